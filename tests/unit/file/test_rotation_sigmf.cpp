// SPDX-License-Identifier: MIT
// SigMF recordings in several parts: each part is complete, and the index continues.
#include "file/parts/part_series.hpp"
#include "file/sigmf/check.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "iio_stream/recording.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

/// Returns the metadata of a part, which must be valid and have the length that they state.
Json part(const TempDir& dir, std::size_t number)
{
    const std::string path = file::part_path(dir / "x.sigmf-meta", number);
    const Recording checked = check_recording(path);
    EXPECT_TRUE(checked.problems.empty()) << path << ": " << checked.problems[0];
    Json m = file::load_metadata(path);
    EXPECT_EQ(m["global"]["iio_stream:state"], "complete");
    return m;
}

std::vector<std::byte> data(const TempDir& dir, std::size_t number)
{
    return contents(file::part_path(dir / "x.sigmf-data", number));
}

Summary rotate_sigmf(const TempDir& dir, FakeSource::Script script, const std::string& options,
                     OnGap on_gap = OnGap::mark)
{
    PipelineConfig config = config_of(fake_source(std::move(script)).uri,
                                      {"file:" + (dir / "x") + "?engine=buffered&" + options});
    config.on_gap = on_gap;
    Summary summary = run(config);
    EXPECT_FALSE(summary.error) << summary.error->what();
    return summary;
}

std::uint64_t index(const Json& capture)
{
    return capture.value("core:global_index", std::uint64_t{0});
}

TEST(RotationSigmf, EachPartIsARecordingAndTheIndexContinues)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'000};
    script.format_.sample_rate = 1e6;
    const Summary summary = rotate_sigmf(dir, script, "rotate_bytes=12Ki&hash=end");
    const Json files = Json::parse(summary.sink_reports[0])["files"];
    ASSERT_EQ(files.size(), 4u);
    EXPECT_EQ(files[3], dir / "x.0003.sigmf-meta");
    std::string last;
    for (std::size_t i = 0; i < 4; ++i) {
        const Json m = part(dir, i);
        EXPECT_EQ(data(dir, i), ramp(3072 * i, i == 3 ? 10'000 - 3 * 3072 : 3072));
        ASSERT_EQ(m["captures"].size(), 1u);
        EXPECT_EQ(index(m["captures"][0]), 3072 * i);
        EXPECT_GE(m["captures"][0]["core:datetime"], last); // with a resolution of a microsecond
        last = m["captures"][0]["core:datetime"];
        EXPECT_EQ(check_recording(file::part_path(dir / "x.sigmf-meta", i)).hash, Hash::good);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 8);
}

TEST(RotationSigmf, LossesAreRecordedInTheirPart)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'000};
    // Inside the first part, at the first sample of the second part, and inside the second part.
    script.losses = {
        {500, 10}, {2058, 7}, {3000, 100, Gap{2950, 2950, 50, 200, Evidence::starvation}}};
    rotate_sigmf(dir, script, "rotate_bytes=8Ki");
    const Json first = part(dir, 0), second = part(dir, 1), third = part(dir, 2);
    ASSERT_EQ(first["captures"].size(), 2u);
    EXPECT_EQ(first["captures"][1]["core:sample_start"], 500);
    EXPECT_EQ(index(first["captures"][1]), 510u);
    ASSERT_EQ(first["annotations"].size(), 1u);

    ASSERT_EQ(second["captures"].size(), 2u) << second.dump(1);
    EXPECT_EQ(index(second["captures"][0]), 2048u + 17);
    EXPECT_EQ(second["annotations"][0]["core:sample_start"], 0);
    EXPECT_EQ(second["annotations"][0]["iio_stream:lost_min"], 7);
    EXPECT_EQ(second["captures"][1]["core:sample_start"], 2950 - 2048);
    EXPECT_EQ(second["captures"][1]["iio_stream:index_exact"], false);
    EXPECT_EQ(second["annotations"].size(), 2u);

    EXPECT_EQ(index(third["captures"][0]), 4096u + 17 + 50);
    EXPECT_EQ(third["captures"][0]["iio_stream:index_exact"], false);
    EXPECT_EQ(third["annotations"].size(), 0u);
}

// A loss that the overflow register reports can be a second old. The files of that second are
// closed by then.
TEST(RotationSigmf, ALossFoundLateIsRecordedInEachPartThatCanHaveIt)
{
    const TempDir dir;
    FakeSource::Script script{.total = 30'000};
    script.losses = {{20'000, 0, Gap{1500, 20'050, 1, 1000, Evidence::overflow_bit}}};
    rotate_sigmf(dir, script, "rotate_bytes=8Ki&hash=end");
    for (std::size_t i = 0; i < 10; ++i) {
        const Json m = part(dir, i);
        ASSERT_EQ(m["annotations"].size(), 1u) << i << m.dump(1);
        const Json& a = m["annotations"][0];
        EXPECT_EQ(a["core:sample_start"], i == 0 ? 1500 : 0);
        EXPECT_EQ(a["core:sample_start"].get<int>() + a["core:sample_count"].get<int>(),
                  i == 9 ? 20'050 - 9 * 2048 : 2048);
        EXPECT_EQ(a["iio_stream:lost_min"], 0); // the loss can be in another part
        EXPECT_EQ(a["iio_stream:lost_max"], 1000);
        EXPECT_EQ(m["captures"][0].value("iio_stream:index_exact", true), i == 0) << i;
        EXPECT_EQ(index(m["captures"][0]), 2048 * i);
        EXPECT_EQ(check_recording(file::part_path(dir / "x.sigmf-meta", i)).hash, Hash::good);
    }
    const Json behind = part(dir, 10);
    EXPECT_TRUE(behind["annotations"].empty());
    EXPECT_EQ(index(behind["captures"][0]), 20'480u + 1);
    EXPECT_EQ(behind["captures"][0]["iio_stream:index_exact"], false);
}

// The samples in the device's FIFO precede the loss, so it can be in the next part.
TEST(RotationSigmf, ALossThatCanBeInTheNextPartIsRecordedThereToo)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'000};
    script.losses = {{1000, 0, Gap{1000, 5000, 1, 300, Evidence::overflow_bit}}};
    rotate_sigmf(dir, script, "rotate_bytes=8Ki");
    const std::uint64_t begins[] = {1000, 0, 0}, ends[] = {2048, 2048, 5000 - 2 * 2048};
    for (std::size_t i = 0; i < 3; ++i) {
        const Json m = part(dir, i);
        ASSERT_EQ(m["annotations"].size(), 1u) << i << m.dump(1);
        const Json& a = m["annotations"][0];
        EXPECT_EQ(a["core:sample_start"], begins[i]);
        EXPECT_EQ(a["core:sample_count"], ends[i] - begins[i]);
        EXPECT_EQ(a["iio_stream:lost_min"], 0);
        EXPECT_EQ(a["iio_stream:lost_max"], 300);
        EXPECT_EQ(index(m["captures"][0]), 2048 * i);
        EXPECT_EQ(m["captures"][0].value("iio_stream:index_exact", true), i == 0);
    }
    const Json behind = part(dir, 3);
    EXPECT_TRUE(behind["annotations"].empty());
    EXPECT_EQ(index(behind["captures"][0]), 3 * 2048u + 1);
}

// Otherwise, the next part would begin before the end of this part.
TEST(RotationSigmf, ALossBeforeTheBoundaryCountsEvenIfAnotherCanBeAfterIt)
{
    const TempDir dir;
    FakeSource::Script script{.total = 10'000};
    script.losses = {{1000, 0, Gap{1000, 1600, 1, 300, Evidence::overflow_bit}},
                     {1400, 0, Gap{1400, 2100, 1, 300, Evidence::overflow_bit}}};
    rotate_sigmf(dir, script, "rotate_bytes=8Ki");
    EXPECT_EQ(index(part(dir, 1)["captures"][0]), 2048u + 1);
    EXPECT_EQ(index(part(dir, 2)["captures"][0]), 2 * 2048u + 2);
}

TEST(RotationSigmf, ZerosInPlaceOfLossesCanCrossPartBoundaries)
{
    for (const std::uint64_t at : {1000u, 1024u, 2000u, 2048u, 3000u}) {
        const TempDir dir;
        FakeSource::Script script{.total = 20'000};
        script.losses = {{at, 5000}};
        const Summary summary = rotate_sigmf(dir, script, "rotate_bytes=8Ki", OnGap::zero_fill);
        const std::size_t count = Json::parse(summary.sink_reports[0])["files"].size();
        std::vector<std::byte> all;
        std::uint64_t zeros_told = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const Json m = part(dir, i);
            EXPECT_EQ(m["captures"].size(), 1u) << m.dump(1);
            EXPECT_EQ(index(m["captures"][0]), all.size() / 4) << at << " " << i;
            for (const Json& a : m["annotations"]) {
                EXPECT_EQ(a["core:label"], "zeros");
                zeros_told += a["core:sample_count"].get<std::uint64_t>();
            }
            all = all + data(dir, i);
        }
        EXPECT_EQ(zeros_told, 5000u);
        EXPECT_EQ(all, ramp(0, at) + zeros(5000) + ramp(at + 5000, 15'000 - at));
    }
}

TEST(RotationSigmf, DroppedBlocksAreAGapWhereverThePartBoundaryIs)
{
    const TempDir dir;
    Session session;
    session.add(config_of(
        fake_source({}).uri,
        {"file:" + (dir / "x") + "?engine=buffered&rotate_bytes=40Ki&on-full=drop&hold=1"}));
    session.prepare();
    session.start();
    // The part appears however little CPU time the worker gets, even if the source takes the rest.
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(dir / "x.0003.sigmf-meta"); }));
    session.stop();
    const Summary summary = session[0].summary();
    ASSERT_FALSE(summary.error);
    ASSERT_NE(summary.stats.sinks[0].dropped_samples, 0u);
    const std::size_t count = Json::parse(summary.sink_reports[0])["files"].size();
    ASSERT_GT(count, 2u);
    for (std::size_t i = 0; i < count; ++i) { // the ramp shows the origin of the samples
        const Json m = part(dir, i);
        const auto bytes = data(dir, i);
        for (const Json& capture : m["captures"]) {
            const std::uint64_t at = capture["core:sample_start"];
            std::uint64_t word = 0;
            ASSERT_EQ(at % 2, 0u);
            std::memcpy(&word, bytes.data() + 4 * at, sizeof word);
            ASSERT_EQ(index(capture), 2 * word) << i;
        }
    }
}

TEST(RotationSigmf, ThePartInProgressStatesItsStart)
{
    const TempDir dir;
    FakeSource::Script script{.silent_at = 3072, .unhurried = true};
    script.format_.sample_rate = 1e6;
    Session session;
    session.add(config_of(fake_source(script).uri,
                          {"file:" + (dir / "x") + "?engine=buffered&rotate_bytes=8Ki"}));
    session.prepare();
    session.start();
    const std::string path = dir / "x.0001.sigmf-meta";
    EXPECT_TRUE(eventually([&] {
        return std::filesystem::exists(path) &&
               index(file::load_metadata(path)["captures"][0]) == 2048;
    }));
    const Json m = file::load_metadata(path);
    EXPECT_TRUE(file::inspect(m).problems.empty());
    EXPECT_EQ(m["global"]["iio_stream:state"], "recording");
    EXPECT_TRUE(m["captures"][0].contains("core:datetime"));
    EXPECT_TRUE(eventually([&] { // and the previous part is finished
        return check_recording(dir / "x.0000.sigmf-meta").problems.empty();
    }));
    session.stop();
    EXPECT_EQ(data(dir, 1), ramp(2048, 1024));
    EXPECT_EQ(index(part(dir, 1)["captures"][0]), 2048u);
}

TEST(RotationSigmf, EitherFileOfAnyExistingPartBlocksARecording)
{
    for (const char* name : {"x.0000.sigmf-data", "x.0007.sigmf-meta"}) {
        const TempDir dir;
        write_text(dir / name, "old");
        Session session;
        const Error error = error_of([&] {
            session.add(config_of(fake_source({.total = 10}).uri,
                                  {"file:" + (dir / "x") + "?rotate_bytes=8Ki"}));
            session.prepare();
        });
        EXPECT_EQ(error.code().value(), EEXIST);
        EXPECT_EQ(error.object(), dir / name);
        EXPECT_EQ(text_in(dir / name), "old");
    }
}

} // namespace
