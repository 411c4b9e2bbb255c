// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/recording.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::test {

/// Records the samples of a fake source that loses some of them.
inline void record(const std::string& sink, std::vector<FakeSource::Loss> losses = {},
                   std::uint64_t total = 10'000)
{
    FakeSource::Script script{.total = total};
    script.losses = std::move(losses);
    const Summary summary = run(config_of(fake_source(script).uri, {sink}));
    ASSERT_FALSE(summary.error) << summary.error->what();
}

/// Returns the metadata of a recording that has just started.
inline file::Json described(const Format& format = Format::parse("ci16_le"))
{
    StreamInfo stream;
    stream.source = "sim:";
    stream.format = format;
    return file::describe(stream, "x.sigmf-meta", 1'767'225'600'000'000'000, "");
}

/// Changes one value in the metadata of a recording.
inline void edit(const std::string& meta, const std::string& pointer, const file::Json& value)
{
    file::Json m = file::load_metadata(meta);
    m[file::Json::json_pointer(pointer)] = value;
    write_text(meta, m.dump());
}

/// Makes a recording in the state that a killed recorder leaves: metadata as at its start, a
/// journal, and a file with more data than the journal covers.
inline void interrupt(const TempDir& dir, const std::string& journal)
{
    record(dir / "x");
    edit(dir / "x.sigmf-meta", "/global/iio_stream:state", "recording");
    file::Json m = file::load_metadata(dir / "x.sigmf-meta");
    m["global"].erase("iio_stream:samples");
    write_text(dir / "x.sigmf-meta", m.dump());
    if (!journal.empty())
        write_text(dir / "x.sigmf-data.journal", journal);
}

/// Returns the problem of a recording that has exactly one problem.
inline std::string only_problem(const std::string& path)
{
    const Recording r = check_recording(path);
    EXPECT_EQ(r.problems.size(), 1u);
    return r.problems.empty() ? "" : r.problems[0];
}

} // namespace iio_stream::test
