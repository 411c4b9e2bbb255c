// SPDX-License-Identifier: MIT
// Recordings in parts with direct I/O.
#include "file/parts/rotation.hpp"
#include "support/direct_io.hpp"
#include "support/fake.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

class RotationDirect : public DirectIoTest {
protected:
    PipelineConfig config(std::uint64_t samples, std::size_t block_size,
                          const std::string& options) const
    {
        PipelineConfig config =
            config_of("sim:?rate=0&pattern=ramp", {"file:" + (dir_ / "x.ci16") +
                                                   "?overwrite=on&engine=" + GetParam() + options});
        config.samples = samples;
        config.block_size = block_size;
        config.blocks = 8;
        return config;
    }
    std::vector<std::byte> joined(const Summary& summary) const
    {
        std::vector<std::byte> all;
        const auto report = nlohmann::json::parse(summary.sink_reports.at(0));
        for (const auto& name : report.at("files"))
            all = all + contents(name.get<std::string>());
        return all;
    }
    std::size_t files() const
    {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(dir_.path()), {}));
    }
};

TEST_P(RotationDirect, ThePartsConcatenatedAreTheStream)
{
    // Part boundaries at every block, at some blocks or at none; tails of any length; without
    // preallocation; with sync; with blocks that must be copied.
    for (const char* options :
         {"&rotate_bytes=32Ki", "&rotate_bytes=300000", "&rotate_bytes=1Gi",
          "&rotate_bytes=100000&preallocate=off&depth=1", "&rotate_bytes=200000&sync=64Ki&depth=3"})
        for (const std::uint64_t samples : {8192u, 100'000u, 300'001u})
            for (const std::size_t block : {32768, 4 * 777}) {
                SCOPED_TRACE(std::string(options) + " " + std::to_string(samples) + " " +
                             std::to_string(block));
                const Summary summary = run(config(samples, block, options));
                ASSERT_FALSE(summary.error) << summary.error->what();
                EXPECT_EQ(summary.copies(), block == 32768 ? 0u : 1u);
                EXPECT_EQ(summary.stats.sinks[0].delivered_samples, samples);
                ASSERT_EQ(joined(summary), ramp(0, samples));
                const auto parts = nlohmann::json::parse(summary.sink_reports[0])["files"].size();
                EXPECT_EQ(files(), parts); // no other files are left
            }
}

TEST_P(RotationDirect, ASecondFileAndACheckGetTheSameSamples)
{
    PipelineConfig three = config(1'000'000, 32768, "&rotate_bytes=1000000");
    three.sinks.push_back("file:" + (dir_ / "whole.ci16") + "?engine=" + GetParam());
    three.sinks.push_back("verify:ramp");
    const Summary summary = run(three);
    ASSERT_FALSE(summary.error) << summary.error->what();
    EXPECT_EQ(joined(summary), contents(dir_ / "whole.ci16"));
    EXPECT_EQ(joined(summary), ramp(0, 1'000'000));
}

TEST_P(RotationDirect, AFilledGapSpansParts)
{
    PipelineConfig with_gap = config(200'000, 32768, "&rotate_bytes=100000");
    with_gap.source = "sim:?rate=0&pattern=ramp&drop_at=50001";
    with_gap.on_gap = OnGap::zero_fill;
    const Summary summary = run(with_gap);
    ASSERT_FALSE(summary.error) << summary.error->what();
    const std::uint64_t lost = summary.stats.gaps.lost_max;
    ASSERT_GT(lost, 0u);
    EXPECT_EQ(joined(summary),
              ramp(0, 50'001) + zeros(lost) + ramp(50'001 + lost, 200'000 - 50'001 - lost));
}

TEST_P(RotationDirect, AtTheFileSizeLimitThePartsAreTheStartOfTheStream)
{
    const Summary summary = [&] {
        const FileSizeLimit limit(300'002);
        return run(config(1'000'000, 32768, "&rotate_bytes=400000"));
    }();
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), EFBIG) << summary.error->what();
    const auto data = joined(summary);
    EXPECT_GE(data.size(), 262'144u);
    EXPECT_EQ(data, ramp(0, data.size() / 4));
    EXPECT_EQ(files(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Engines, RotationDirect, testing::Values("io_uring", "libaio"),
                         [](const auto& engine) { return std::string(engine.param); });

} // namespace
