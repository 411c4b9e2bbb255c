// SPDX-License-Identifier: MIT
// The rule of the hot path: the pipeline allocates no memory per block.
#include "support/allocations.hpp"
#include "support/meter.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <new>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Allocation, OperatorNewIsCounted)
{
    // Call the operators directly: the compiler can optimize away a pair of new and delete
    // expressions.
    const std::size_t before = allocations();
    ::operator delete(::operator new(4));
    const auto array = std::make_unique<int[]>(10);
    constexpr std::align_val_t wide{64};
    ::operator delete(::operator new(64, wide), wide);
    EXPECT_EQ(allocations(), before + 3);
    EXPECT_NE(array, nullptr);
}

TEST(Allocation, TheSourceThreadAllocatesNothingPerBlock)
{
    EXPECT_EQ(allocations_of("sim:?rate=0", {"null:"}, false), 0u);
    EXPECT_EQ(allocations_of("sim:?rate=0&pattern=tone", {"null:", "null:"}, false), 0u);
}

TEST(Allocation, AThreadedSinkAllocatesNothingPerBlock)
{
    EXPECT_EQ(allocations_of("sim:?rate=0", {"null:"}, true), 0u);
    EXPECT_EQ(allocations_of("sim:?rate=0", {"null:?rate=100G", "null:"}, true, "?hold=2"), 0u);
    EXPECT_EQ(allocations_of("sim:?rate=0", {"null:"}, true, "?on-full=drop&hold=8"), 0u);
}

TEST(Allocation, ARealTimeSourceAllocatesNothingPerBlock)
{
    EXPECT_EQ(allocations_of("sim:?rate=10M", {"null:"}, true), 0u);
}

TEST(Allocation, AConversionOrCheckAllocatesNothingPerBlock)
{
    EXPECT_EQ(allocations_of("sim:?rate=0", {"verify:ramp"}, true, "?convert=cf32_le"), 0u);
    EXPECT_EQ(allocations_of("sim:?rate=0&pattern=lanes", {"verify:lanes"}, true), 0u);
}

TEST(Allocation, AFileAllocatesNothingPerBlock)
{
    EXPECT_EQ(allocations_of("sim:?rate=0", {"file:/dev/null"}, true), 0u);
    EXPECT_EQ(allocations_of("file:/dev/zero?format=ci16_le", {"null:"}, false), 0u);
    const TempDir dir;
    EXPECT_EQ(allocations_of("sim:?rate=0", {"file:" + (dir / "a.ci16?engine=buffered")}, true),
              0u);
    // The journal's thread writes at fixed times. On a busy machine, some of them fall within the
    // 3900 blocks.
    EXPECT_LT(
        allocations_of("sim:?rate=0", {"file:" + (dir / "a.sigmf-meta?engine=buffered")}, true),
        39u);
    EXPECT_EQ(allocations_of("sim:?rate=0", {"file:" + (dir / "b.ci16?rotate_bytes=100Mi")}, true),
              0u);
}

// libzmq allocates its own memory with malloc(), which is not counted.
TEST(Allocation, AZmqSocketAllocatesNothingPerBlock)
{
    const TempDir dir;
    EXPECT_EQ(allocations_of("sim:?rate=0", {"zmq:ipc://" + dir / "a"}, true), 0u);
}

TEST(Allocation, FillingALossWithZerosAllocatesNothing)
{
    FakeSource::Script script;
    for (std::uint64_t at = 1000; at < 400'000; at += 100)
        script.losses.push_back({.at = at, .samples = 10});
    Meter meter;
    PipelineConfig config;
    config.source = fake_source(script).uri;
    config.sinks = {fake_sink({.may_block = true, .records = false, .submit = meter.probe()}).uri};
    config.block_size = 256;
    config.blocks = 8;
    config.on_gap = OnGap::zero_fill;
    config.bytes = 4200 * 256;
    run(config);
    EXPECT_GT(meter.seen, 4000u);
    EXPECT_EQ(meter.last - meter.first, 0u);
}

} // namespace
