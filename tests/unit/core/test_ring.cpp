// SPDX-License-Identifier: MIT
#include "core/base/ring.hpp"
#include "support/readable.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <thread>

namespace {

using namespace iio_stream;
using detail::Ring;
using test::readable;

Block lease(BlockPool& pool, std::uint64_t sequence)
{
    std::optional<EmptyBlock> block;
    while (!(block = pool.take()))
        std::this_thread::yield();
    BlockInfo info;
    info.bytes = 4;
    info.sequence = sequence;
    return std::move(*block).fill(info);
}

struct RingTest : testing::Test {
    BlockPool pool{Memory{}, 64, 4, CpuUse::mapped};
    Ring ring{4};
};

TEST_F(RingTest, LeasesComeOutInOrderAcrossWrapArounds)
{
    std::uint64_t in = 0, out = 0;
    for (int i = 0; i < 10; ++i) {
        for (int n = 0; n < 3; ++n)
            ring.push(lease(pool, in++));
        EXPECT_EQ(ring.size(), 3u);
        for (int n = 0; n < 3; ++n)
            EXPECT_EQ(ring.pop()->sequence(), out++);
        EXPECT_FALSE(ring.pop().has_value());
    }
}

TEST_F(RingTest, ARingHoldsItsCapacityAndReleasesLeasesWhenDestroyed)
{
    {
        Ring full(4);
        for (std::uint64_t i = 0; i < 4; ++i)
            full.push(lease(pool, i));
        EXPECT_EQ(full.size(), 4u);
        EXPECT_EQ(pool.available(), 0u);
        (void)full.pop();
        EXPECT_EQ(pool.available(), 1u); // the ring destroys a popped lease at once
    }
    EXPECT_EQ(pool.available(), 4u);
}

TEST_F(RingTest, AnArmedRingSignalsAPush)
{
    ASSERT_TRUE(ring.arm());
    EXPECT_FALSE(readable(ring.fd()));
    ring.push(lease(pool, 0));
    EXPECT_TRUE(readable(ring.fd()));
    ring.disarm(true);
    EXPECT_FALSE(readable(ring.fd()));
    EXPECT_FALSE(ring.arm()); // a lease is available
    ring.push(lease(pool, 1));
    EXPECT_FALSE(readable(ring.fd())); // no thread waits: no system call
}

TEST_F(RingTest, ACallIsDetectedWhetherTheRingIsArmedOrNot)
{
    ring.call();
    EXPECT_TRUE(readable(ring.fd()));
    ring.disarm(true);
    ASSERT_TRUE(ring.arm());
    ring.call();
    EXPECT_TRUE(readable(ring.fd()));
}

TEST_F(RingTest, BetweenTwoThreadsNoLeaseIsLostDuplicatedOrMissed)
{
    constexpr std::uint64_t kLeases = 50'000;
    int stuck = 0;
    std::thread taker([&] {
        for (std::uint64_t next = 0; next < kLeases && stuck == 0;) {
            if (auto filled = ring.pop()) {
                ASSERT_EQ(filled->sequence(), next++);
                continue;
            }
            if (!ring.arm())
                continue;
            pollfd request{ring.fd(), POLLIN, 0};
            const int ready = ::poll(&request, 1, 10'000);
            ring.disarm(ready > 0);
            stuck += ready == 0;
        }
    });
    for (std::uint64_t i = 0; i < kLeases; ++i)
        ring.push(lease(pool, i)); // the size of the pool ensures that there is room
    taker.join();
    EXPECT_EQ(stuck, 0);
    EXPECT_EQ(pool.available(), 4u);
}

} // namespace
