// SPDX-License-Identifier: MIT
// The rule of the hot path with direct I/O: no memory is allocated per block.
#include "support/direct_io.hpp"
#include "support/meter.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

constexpr std::size_t kDirectBlock = 4096;
/// The most allocations in 3900 blocks. Each second, the journal's own thread allocates a line of
/// text.
constexpr std::size_t kJournal = 60;

class AllocationDirect : public DirectIoTest {};

TEST_P(AllocationDirect, WritingAllocatesNothingPerBlock)
{
    const std::string engine = std::string("?engine=") + GetParam();
    for (const char* name : {"a.ci16", "a.sigmf-meta"})
        EXPECT_LE(allocations_of("sim:?rate=0", {"file:" + (dir_ / name) + engine}, true, "",
                                 kDirectBlock),
                  kJournal)
            << name;
    EXPECT_LE(allocations_of("sim:?rate=0",
                             {"file:" + (dir_ / "b.ci16") + engine + "&rotate_bytes=1Gi"}, true, "",
                             kDirectBlock),
              kJournal);
}

TEST_P(AllocationDirect, ReadingAllocatesNothingPerBlock)
{
    const std::string file = dir_ / "a.ci16";
    PipelineConfig config = config_of("sim:?rate=0", {"file:" + file});
    config.bytes = 4300 * kDirectBlock;
    run(config);
    EXPECT_EQ(
        allocations_of("file:" + file + "?engine=" + GetParam(), {"null:"}, true, "", kDirectBlock),
        0u);
}

INSTANTIATE_TEST_SUITE_P(Engines, AllocationDirect, testing::Values("io_uring", "libaio"));

} // namespace
