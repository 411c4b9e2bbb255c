// SPDX-License-Identifier: MIT
#include "iio_stream/reader.hpp"
#include "support/errors.hpp"
#include "support/reading.hpp"
#include "support/temp_dir.hpp"

#include <fstream>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Reader, EveryBlockIsReturnedInOrderUntilTheEnd)
{
    Reader reader(reading({.total = 50'000}));
    reader.start();
    std::vector<std::byte> got;
    std::uint64_t sequence = 0;
    for (Block& block : reader) {
        EXPECT_EQ(block.sequence(), sequence++);
        EXPECT_EQ(block.sample_index(), got.size() / 4);
        got = got + bytes_in(block);
    }
    EXPECT_EQ(got, ramp(0, 50'000));
    EXPECT_TRUE(reader.ended());
    EXPECT_FALSE(reader.next());
    const Summary summary = reader.close();
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 50'000u);
    EXPECT_EQ(summary.route.back().mechanism, "lease");
}

TEST(Reader, RouteAndFormatAreAvailableBeforeTheStart)
{
    Reader reader(config_of("sim:?convert=cf32_le&channels=4", {}));
    EXPECT_EQ(reader.format().name(), "cf32_le");
    EXPECT_EQ(reader.route().size(), 3u);
    EXPECT_FALSE(reader.ended());
}

TEST(Reader, TheFirstRequestForABlockStartsTheStream)
{
    Reader iterated(reading({.total = 50'000})), asked(reading({.total = 50'000}));
    std::uint64_t samples = 0;
    for (const Block& block : iterated)
        samples += block.samples();
    EXPECT_EQ(samples, 50'000u);
    EXPECT_TRUE(asked.next(30s));
    EXPECT_EQ(asked.close().ended, "signal");
}

TEST(Reader, AClosedReaderDoesNotStartImplicitly)
{
    Reader started(reading({.total = 50'000})), never(reading({.total = 50'000}));
    EXPECT_TRUE(started.next(30s));
    for (Reader* reader : {&started, &never}) {
        (void)reader->close();
        EXPECT_EQ(reader->next(30s).outcome(), Outcome::ended);
        for (const Block& block : *reader)
            ADD_FAILURE() << block.sequence();
        reader->start();
        EXPECT_TRUE(reader->next(30s));
    }
}

TEST(Reader, ClosingBeforeTheStartIsNotAnError)
{
    Reader reader(reading({.total = 50'000}));
    const Summary summary = reader.close();
    EXPECT_EQ(summary.ended, "signal");
    EXPECT_FALSE(summary.error);
}

TEST(Reader, AFailedStartIsReportedByEveryLoop)
{
    Reader reader(reading({.start = [] { throw Error(Fault::device, ENODEV, "start", "fake"); }}));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(error_of([&] {
                      for (const Block& block : reader)
                          ADD_FAILURE() << block.sequence();
                  })
                      .code()
                      .value(),
                  ENODEV);
}

TEST(Reader, RunCallsAFunctionWithEachBlock)
{
    Reader reader(reading({.total = 50'000}));
    std::vector<std::byte> got;
    const Summary summary = reader.run([&](const Block& block) { got = got + bytes_in(block); });
    EXPECT_EQ(got, ramp(0, 50'000));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(summary.stats.samples, 50'000u);
}

TEST(Reader, ABlockOutlivesItsReader)
{
    std::vector<Block> kept;
    {
        Reader reader(reading({}));
        reader.start();
        while (kept.size() < 4)
            kept.push_back(std::move(*reader.next()));
        (void)reader.next(); // this block is returned at once
    }
    for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_EQ(bytes_in(kept[i]), ramp(i * 1024, 1024));
}

TEST(Reader, ASharedLeaseKeepsTheBlock)
{
    Reader reader(reading({}));
    reader.start();
    std::optional<Block> share;
    share = reader.next()->share();
    EXPECT_EQ(reader.held(), 1u);
    for (int i = 0; i < 30; ++i)
        ASSERT_TRUE(reader.next(30s));
    EXPECT_EQ(bytes_in(*share), ramp(0, 1024));
    share.reset();
    EXPECT_EQ(reader.held(), 0u);
}

TEST(Reader, TheStreamsErrorIsThrownAfterItsLastBlock)
{
    Reader reader(reading({.fail_at = 2048}));
    reader.start();
    EXPECT_TRUE(reader.next(30s));
    EXPECT_TRUE(reader.next(30s));
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(error_of([&] { (void)reader.next(30s); }).code().value(), ENODEV);
    EXPECT_TRUE(reader.ended());
}

TEST(Reader, GapsArriveWithTheirBlocks)
{
    Reader reader(reading({.total = 4096, .losses = {{.at = 1500, .samples = 10}}}));
    reader.start();
    std::vector<Gap> gaps;
    std::uint64_t last = 0;
    for (Block& block : reader) {
        gaps.insert(gaps.end(), block.gaps().begin(), block.gaps().end());
        last = block.sample_index() + block.bytes() / 4;
    }
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].offset_min, 1500u);
    EXPECT_EQ(gaps[0].lost_min, 10u);
    EXPECT_EQ(last, 4096u);
}

TEST(Reader, ConvertedBlocksAreReadLikeOtherBlocks)
{
    PipelineConfig config = config_of("sim:?rate=0&pattern=tone&convert=cf32_le", {});
    config.samples = 100'000;
    Reader reader(config);
    reader.start();
    std::uint64_t bytes = 0;
    for (Block& block : reader)
        bytes += block.bytes();
    EXPECT_EQ(bytes, 800'000u);
}

TEST(Reader, AReaderCanBeStartedRepeatedly)
{
    PipelineConfig config = config_of("sim:?rate=0", {});
    config.samples = 5000;
    Reader reader(config);
    std::optional<Block> old;
    for (int round = 0; round < 20; ++round) {
        reader.start();
        std::uint64_t samples = 0;
        while (auto block = reader.next(30s)) {
            samples += block->bytes() / 4;
            old = std::move(block);
        }
        EXPECT_EQ(samples, 5000u);
    }
    EXPECT_EQ(reader.close().stats.samples, 5000u);
}

TEST(Reader, TheTuningOfARecordingIsReported)
{
    const TempDir dir;
    std::ofstream(dir / "a.sigmf-data") << std::string(4000, 'x');
    std::ofstream(dir / "a.sigmf-meta")
        << R"({"global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.0.0"},
               "captures": [{"core:sample_start": 0, "core:frequency": 2.4e9}], "annotations": []})";
    const Reader reader(config_of("file:" + (dir / "a.sigmf-meta"), {}));
    EXPECT_EQ(reader.tuning().frequency, 2.4e9);
    EXPECT_EQ(reader.tuning().rate, 1e6);
    EXPECT_FALSE(reader.tuning().gain);
}

TEST(Tune, OnlyADeviceCanBeTuned)
{
    Options options;
    options.set("frequency", "2.4G");
    expect_usage_error([&] { (void)tune("sim:", options); }, "cannot be tuned", "iio:");
}

TEST(Reader, AMistypedSourceIsAUsageError)
{
    expect_usage_error([] { Reader reader(config_of("sim:?ratee=1M", {})); }, "ratee", "rate");
}

} // namespace
