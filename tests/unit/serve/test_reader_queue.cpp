// SPDX-License-Identifier: MIT
#include "serve/reader_queue.hpp"
#include "support/blocks.hpp"
#include "sys/event.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

namespace iio_stream::serve {
namespace {

constexpr std::size_t kBytes = 4096, kBlocks = 16, kLead = 3;

/// Readers of one device, with the blocks that it captures.
class ServedReaders : public testing::Test {
protected:
    ServedReaders() { run_->format.sample_bytes = 4; }
    void capture(int blocks)
    {
        for (; blocks > 0; --blocks) {
            BlockInfo info;
            info.bytes = kBytes;
            info.sequence = next_++;
            const auto block =
                std::make_shared<const CapturedBlock>(std::move(*pool_.take()).fill(info), run_);
            for (const auto& queue : queues_)
                queue->add(block);
        }
    }
    ReaderQueue& join() { return *queues_.emplace_back(std::make_shared<ReaderQueue>(Format())); }
    static std::vector<std::uint64_t> rest_of(ReaderQueue& queue)
    {
        std::vector<std::uint64_t> sequences;
        while (const auto taken = queue.take())
            sequences.push_back(taken->block.sequence());
        return sequences;
    }
    static bool is_ready(const ReaderQueue& queue)
    {
        return sys::wait_for(queue.fd(), POLLIN, sys::monotonic_ns());
    }

    std::shared_ptr<CaptureRun> run_ = std::make_shared<CaptureRun>();
    BlockPool pool_ = test::pool_of(kBlocks, kBytes);
    ReaderQueues queues_;
    std::uint64_t next_ = 0;
};

using Sequences = std::vector<std::uint64_t>;

TEST_F(ServedReaders, ASlowReaderLosesTheBlocksThatTheOthersHaveTaken)
{
    ReaderQueue &fast = join(), &slow = join(), &also_slow = join();
    capture(5);
    for (int i = 0; i < 3; ++i)
        (void)fast.take();
    (void)also_slow.take();
    EXPECT_TRUE(drop_oldest_of_slow(queues_, kLead));
    EXPECT_FALSE(drop_oldest_of_slow(queues_, kLead)); // none is three blocks behind any more
    EXPECT_EQ(rest_of(fast), (Sequences{3, 4}));
    EXPECT_EQ(rest_of(slow), (Sequences{1, 2, 3, 4}));
    EXPECT_EQ(rest_of(also_slow), (Sequences{1, 2, 3, 4}));
    EXPECT_EQ(fast.dropped(), 0u);
    EXPECT_EQ(slow.dropped(), kBytes / 4);
    EXPECT_EQ(also_slow.dropped(), 0u); // it had sent that block
}

TEST_F(ServedReaders, NoReaderLosesABlockWhileAllAreEquallySlow)
{
    join();
    join();
    capture(8);
    (void)queues_[0]->take();
    EXPECT_FALSE(drop_oldest_of_slow(queues_, kLead));
    EXPECT_EQ(queues_[0]->size(), 7u);
    EXPECT_EQ(queues_[1]->size(), 8u);
    EXPECT_FALSE(drop_oldest_of_slow({}, 0));
}

TEST_F(ServedReaders, ANewReaderNeedNotWaitForThoseThatStopped)
{
    ReaderQueue& stopped = join();
    capture(8);
    ReaderQueue& late = join();
    EXPECT_TRUE(drop_oldest_of_slow(queues_, kLead));
    capture(1);
    EXPECT_EQ(rest_of(late), Sequences{8});
    EXPECT_EQ(stopped.size(), 8u);
}

TEST_F(ServedReaders, ReadersShareTheBlocks)
{
    for (int i = 0; i < 32; ++i)
        join();
    capture(kBlocks);
    EXPECT_EQ(pool_.available(), 0u);
    EXPECT_EQ(run_->held, kBlocks); // each counts once
    for (const auto& queue : queues_)
        EXPECT_EQ(rest_of(*queue).size(), kBlocks);
    EXPECT_EQ(pool_.available(), kBlocks);
    EXPECT_EQ(run_->held, 0u);
}

TEST_F(ServedReaders, APauseBetweenCapturesIsALossOfTheReadersThatHadOne)
{
    ReaderQueue& queue = join();
    queue.add_pause(100);
    EXPECT_EQ(queue.restarts().possible, 0u); // it had no capture before
    capture(2);
    queue.end_capture();
    queue.add_pause(100);
    const GapTotals restarts = queue.restarts();
    EXPECT_EQ(restarts.certain, 1u); // two blocks were not sent
    EXPECT_EQ(restarts.lost_min, 2 * kBytes / 4);
    EXPECT_EQ(restarts.lost_max, 2 * kBytes / 4 + 100);
    EXPECT_EQ(queue.dropped(), 0u);
    queue.add_pause(100);
    EXPECT_EQ(queue.restarts().lost_max, restarts.lost_max);
}

TEST_F(ServedReaders, TheDescriptorIsReadableWhileThereIsABlockOrAnError)
{
    ReaderQueue& queue = join();
    EXPECT_FALSE(is_ready(queue));
    for (int round = 0; round < 3; ++round) {
        capture(2);
        EXPECT_TRUE(is_ready(queue));
        EXPECT_EQ(rest_of(queue).size(), 2u);
        EXPECT_FALSE(is_ready(queue));
    }
    queue.fail(Error(Fault::device, EIO, "read", "it"));
    EXPECT_TRUE(is_ready(queue));
    EXPECT_THROW((void)queue.take(), Error);
}

} // namespace
} // namespace iio_stream::serve
