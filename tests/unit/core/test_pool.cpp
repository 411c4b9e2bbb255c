// SPDX-License-Identifier: MIT
#include "core/base/ring.hpp"
#include "iio_stream/block.hpp"
#include "support/blocks.hpp"
#include "support/eventually.hpp"
#include "support/readable.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(BlockPool, EveryBufferIsHandedOutOnce)
{
    BlockPool pool = pool_of(3);
    EXPECT_EQ(pool.count(), 3u);
    EXPECT_EQ(pool.block_size(), kBytes);
    std::vector<EmptyBlock> taken;
    std::vector<bool> seen(3);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(pool.available(), 3u - static_cast<unsigned>(i));
        taken.push_back(*pool.take());
        EXPECT_FALSE(seen[taken.back().index()]);
        seen[taken.back().index()] = true;
    }
    EXPECT_FALSE(pool.take().has_value());
    EXPECT_EQ(pool.available(), 0u);
    taken.clear();
    EXPECT_EQ(pool.available(), 3u);
    EXPECT_TRUE(pool.take().has_value());
}

TEST(BlockPool, BuffersOfAnySizeDoNotOverlap)
{
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{6}, kBytes, kBytes + 2}) {
        BlockPool pool = pool_of(3, bytes);
        std::vector<Block> all;
        for (int i = 0; i < 3; ++i)
            all.push_back(fill(*pool.take(), std::byte(i + 1)));
        for (int i = 0; i < 3; ++i) {
            const CpuRead data{all[static_cast<std::size_t>(i)]};
            ASSERT_EQ(data.bytes().size(), bytes);
            EXPECT_TRUE(std::all_of(data.bytes().begin(), data.bytes().end(),
                                    [&](std::byte b) { return b == std::byte(i + 1); }));
        }
    }
}

TEST(BlockPool, ALimitedPoolHandsOutNoMoreBuffers)
{
    BlockPool pool = pool_of(5);
    pool.limit(2);
    EXPECT_EQ(pool.count(), 2u);
    EXPECT_EQ(pool.available(), 2u);
    for (int round = 0; round < 3; ++round) {
        std::vector<EmptyBlock> taken;
        while (auto block = pool.take())
            taken.push_back(std::move(*block));
        ASSERT_EQ(taken.size(), 2u);
        EXPECT_LT(taken[0].index(), 2u);
        EXPECT_LT(taken[1].index(), 2u);
    }
}

// A file's pages stand in for the kernel's blocks: later writes to the file must not change a
// lease.
TEST(BlockPool, ALeaseKeepsItsSamplesAndAddressWhenKernelMemoryIsDetached)
{
    constexpr std::size_t kBlock = 8192;
    BlockPool pool(Memory{.kind = MemoryKind::kernel, .heap = {}, .fds = {}}, kBlock, 2,
                   CpuUse::mapped);
    const int file = ::memfd_create("kernel", 0);
    ASSERT_EQ(::ftruncate(file, 2 * kBlock), 0);
    for (std::size_t i = 0; i < 2; ++i)
        ASSERT_NE(::mmap(pool.mapping(i).data(), kBlock, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(i * kBlock)),
                  MAP_FAILED);
    EmptyBlock empty = *pool.take();
    const std::size_t index = empty.index();
    std::byte* const address = pool.mapping(index).data();
    std::fill_n(address, kBlock, std::byte{7});
    BlockInfo info;
    info.bytes = kBlock;
    const Block lease = std::move(empty).fill(info);

    ASSERT_TRUE(pool.detach_kernel_memory());

    const std::vector<std::byte> other(2 * kBlock, std::byte{9});
    ASSERT_EQ(::pwrite(file, other.data(), other.size(), 0), static_cast<ssize_t>(other.size()));
    const CpuRead read{lease};
    EXPECT_EQ(read.bytes().data(), address);
    EXPECT_TRUE(std::ranges::all_of(read.bytes(), [](std::byte b) { return b == std::byte{7}; }));
    // The other block is no longer mapped, so the kernel cannot read from it either.
    EXPECT_EQ(::write(file, pool.mapping(1 - index).data(), 1), -1);
    EXPECT_EQ(errno, EFAULT);
    ::close(file);
}

TEST(BlockPool, AMovedFromBlockReturnsNothing)
{
    BlockPool pool = pool_of(2);
    EmptyBlock a = *pool.take();
    EmptyBlock b = std::move(a);
    EXPECT_EQ(pool.available(), 1u);
    {
        EmptyBlock c = *pool.take();
        c = std::move(b); // b has the block that c had: both blocks are still in use
        EXPECT_EQ(pool.available(), 0u);
    }
    EXPECT_EQ(pool.available(), 1u);
}

TEST(BlockPool, APoolCanBeMoved)
{
    BlockPool a = pool_of(2);
    EmptyBlock block = *a.take();
    BlockPool b = std::move(a);
    EXPECT_EQ(b.available(), 1u);
    b = pool_of(5);
    EXPECT_EQ(b.count(), 5u);
}

TEST(BlockPool, AnArmedPoolSignalsAReturnedBuffer)
{
    BlockPool pool = pool_of(1);
    EXPECT_FALSE(pool.arm()); // a buffer is available: no wait
    EXPECT_FALSE(readable(pool.fd()));
    std::optional<EmptyBlock> block = pool.take();
    ASSERT_TRUE(pool.arm());
    EXPECT_FALSE(readable(pool.fd()));
    block.reset();
    EXPECT_TRUE(readable(pool.fd()));
    pool.disarm(true);
    EXPECT_FALSE(readable(pool.fd()));
    EXPECT_TRUE(pool.take().has_value());
}

TEST(BlockPool, ArmDetectsABufferThatWasReturnedBefore)
{
    BlockPool pool = pool_of(2);
    std::optional<EmptyBlock> a = pool.take(), b = pool.take();
    a.reset();
    EXPECT_FALSE(pool.arm());
}

TEST(BlockPool, ADisarmedPoolDoesNotSignal)
{
    BlockPool pool = pool_of(1);
    std::optional<EmptyBlock> block = pool.take();
    ASSERT_TRUE(pool.arm());
    pool.disarm(false);
    block.reset();
    EXPECT_FALSE(readable(pool.fd()));
}

// Releases the blocks that arrive in the ring, and sleeps while there are none.
void give_back(detail::Ring& ring, const std::atomic<bool>& over)
{
    while (!over) {
        if (ring.pop() || !ring.arm())
            continue;
        pollfd request{ring.fd(), POLLIN, 0};
        ring.disarm(::poll(&request, 1, 100) > 0);
    }
}

TEST(BlockPool, NoWakeUpIsLostWhileOtherThreadsReturnBuffers)
{
    constexpr int kRounds = 30'000;
    BlockPool pool = pool_of(4, 64);
    std::array<detail::Ring, 2> rings{detail::Ring(4), detail::Ring(4)};
    std::atomic<bool> over{false};
    std::thread first([&] { give_back(rings[0], over); });
    std::thread second([&] { give_back(rings[1], over); });
    int stuck = 0;
    for (int round = 0; round < kRounds && stuck == 0;) {
        if (std::optional<EmptyBlock> block = pool.take()) {
            rings[static_cast<std::size_t>(round++ % 2)].push(fill(std::move(*block), std::byte{}));
            continue;
        }
        if (!pool.arm())
            continue;
        pollfd request{pool.fd(), POLLIN, 0};
        const int ready = ::poll(&request, 1, 10'000);
        pool.disarm(ready > 0);
        stuck += ready == 0;
    }
    EXPECT_EQ(stuck, 0) << "the return of a buffer was not noticed";
    EXPECT_TRUE(eventually([&] { return pool.available() == 4; }));
    over = true;
    first.join();
    second.join();
}

TEST(BlockPool, TheCountOfFreeBuffersIsNeverTooHigh)
{
    BlockPool pool = pool_of(1, 64);
    detail::Ring ring(1);
    std::atomic<bool> over{false};
    std::thread giver([&] { give_back(ring, over); });
    std::size_t most = 0;
    for (int i = 0; i < 20'000;) {
        // A block can be taken after its return and before it is counted as returned.
        if (std::optional<EmptyBlock> block = pool.take()) {
            most = std::max(most, pool.available());
            ring.push(fill(std::move(*block), std::byte{}));
            ++i;
        }
    }
    over = true;
    giver.join();
    EXPECT_EQ(most, 0u);
}

TEST(BlockPool, LeasesAreSharedAndReleasedByManyThreads)
{
    constexpr int kThreads = 4, kRounds = 2'000;
    BlockPool pool = pool_of(8, 64);
    for (int round = 0; round < kRounds; ++round) {
        std::optional<Block> lease = fill(*pool.take(), std::byte(round));
        std::vector<Block> leases;
        for (int i = 0; i < kThreads; ++i)
            leases.push_back(i % 2 == 0 ? lease->share() : lease->slice(1, 3, kSample));
        lease.reset();
        if (round % 100 != 0) // most rounds avoid the cost of threads
            continue;
        std::vector<std::thread> threads;
        for (Block& each : leases)
            threads.emplace_back([mine = std::move(each), round] {
                for (int i = 0; i < 100; ++i) {
                    const Block more = mine.share();
                    const CpuRead data{more};
                    ASSERT_EQ(data.bytes()[0], std::byte(round));
                }
            });
        leases.clear();
        for (auto& thread : threads)
            thread.join();
    }
    EXPECT_EQ(pool.available(), 8u);
}

TEST(BlockPool, AnotherThreadCanBeTheLastHolderOfAPool)
{
    for (int i = 0; i < 200; ++i) {
        std::optional<BlockPool> pool = pool_of(2, 64);
        std::thread thread([lease = fill(*pool->take(), std::byte{7})]() mutable {
            const Block mine = std::move(lease);
            EXPECT_EQ(CpuRead{mine}.bytes()[3], std::byte{7});
        });
        pool.reset();
        thread.join();
    }
}

} // namespace
