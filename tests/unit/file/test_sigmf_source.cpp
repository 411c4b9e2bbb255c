// SPDX-License-Identifier: MIT
#include "support/errors.hpp"
#include "support/recordings.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Json;

TEST(SigmfSource, ARecordingIsPlayedWithItsGapsAndTuning)
{
    const TempDir dir;
    record(dir / "x", {{1000, 50}, {5000, 5}});
    const SinkAt sink = fake_sink();
    const Summary summary = run(config_of(dir / "x", {sink.uri}));
    EXPECT_FALSE(summary.error) << summary.error->what();
    EXPECT_EQ(sink.log->bytes, contents(dir / "x.sigmf-data"));
    EXPECT_EQ(summary.stats.gaps.certain, 2u);
    EXPECT_EQ(summary.stats.gaps.lost_min, 55u);
    std::vector<Gap> gaps;
    for (const BlockInfo& info : sink.log->infos)
        gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
    ASSERT_EQ(gaps.size(), 2u);
    EXPECT_EQ(gaps[0].offset_min, 1000u);
    EXPECT_EQ(gaps[1].offset_max, 4950u);
    EXPECT_EQ(sink.log->infos.back().sample_index, sink.log->infos.back().position + 55);
    // A recording of the playback has the same contents.
    record(dir / "y");
    run(config_of(dir / "x", {"file:" + (dir / "y") + "?overwrite=on"}));
    // The order of the keys does not matter.
    const nlohmann::json again = file::load_metadata(dir / "y.sigmf-meta");
    const nlohmann::json first = file::load_metadata(dir / "x.sigmf-meta");
    EXPECT_EQ(again["captures"], first["captures"]);
    EXPECT_EQ(again["annotations"], first["annotations"]);
    EXPECT_EQ(again["global"], first["global"]);
}

TEST(SigmfSource, ALoopRepeatsItsGapsInEachRound)
{
    const TempDir dir;
    record(dir / "x", {{100, 5}}, 305); // 300 samples: more than three rounds in one block
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of("file:" + (dir / "x") + "?loop=on", {sink.uri});
    config.samples = 600;
    const Summary summary = run(config);
    EXPECT_EQ(summary.stats.gaps.certain, 2u);
    EXPECT_EQ(summary.stats.gaps.lost_min, 10u);
}

TEST(SigmfSource, AnIncompleteRecordingIsNotPlayed)
{
    const TempDir dir;
    record(dir / "x");
    const auto refusal = [&] {
        return std::string(error_of([&] { run(config_of(dir / "x", {"null:"})); }).what());
    };
    ASSERT_EQ(::truncate((dir / "x.sigmf-data").c_str(), 4000), 0);
    EXPECT_NE(refusal().find("10000 samples"), std::string::npos);
    edit(dir / "x.sigmf-meta", "/global/core:datatype", "ci24_le");
    EXPECT_NE(refusal().find("core:datatype = \"ci24_le\""), std::string::npos);
    ASSERT_EQ(::unlink((dir / "x.sigmf-meta").c_str()), 0);
    EXPECT_NE(refusal().find("x.sigmf-meta"), std::string::npos);
    write_text(dir / "y.sigmf", "tar");
    EXPECT_NE(std::string(error_of([&] { run(config_of(dir / "y.sigmf", {"null:"})); }).what())
                  .find("tar"),
              std::string::npos);
}

} // namespace
