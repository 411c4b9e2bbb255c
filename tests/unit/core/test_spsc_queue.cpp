// SPDX-License-Identifier: MIT
#include "core/base/spsc_queue.hpp"
#include "support/allocations.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace {

using iio_stream::detail::SpscQueue;

TEST(SpscQueue, ItemsComeOutInOrderAcrossWrapArounds)
{
    SpscQueue<int> queue(3); // not a power of two
    int in = 0, out = 0;
    for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(queue.push(in++));
        EXPECT_TRUE(queue.push(in++));
        EXPECT_EQ(queue.size(), 2u);
        EXPECT_EQ(*queue.front(), out);
        EXPECT_EQ(queue.pop(), out++);
        EXPECT_EQ(queue.pop(), out++);
        EXPECT_TRUE(queue.is_empty());
        EXPECT_EQ(queue.front(), nullptr);
        EXPECT_FALSE(queue.pop().has_value());
    }
}

TEST(SpscQueue, IndicesCanWrapAround)
{
    SpscQueue<int> queue(3, SIZE_MAX - 1); // as after 2^32 items on a 32-bit machine
    for (int i = 0; i < 6; i += 2) {
        EXPECT_TRUE(queue.push(i));
        EXPECT_TRUE(queue.push(i + 1));
        EXPECT_TRUE(queue.push(i + 2));
        EXPECT_TRUE(queue.is_full());
        for (int k = 0; k < 3; ++k)
            EXPECT_EQ(queue.pop(), i + k);
        EXPECT_FALSE(queue.pop());
    }
}

TEST(SpscQueue, AFullQueueRefusesAnItemAndKeepsTheOthers)
{
    SpscQueue<int> queue(3);
    EXPECT_EQ(queue.capacity(), 3u);
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(queue.is_full());
        EXPECT_TRUE(queue.push(i));
    }
    EXPECT_TRUE(queue.is_full());
    EXPECT_FALSE(queue.push(3));
    EXPECT_EQ(queue.size(), 3u);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(queue.pop(), i);
}

TEST(SpscQueue, TheNewestItemCanBeModified)
{
    SpscQueue<int> queue(2);
    queue.push(1);
    queue.push(2);
    queue.back() = 7;
    EXPECT_EQ(queue.pop(), 1);
    EXPECT_EQ(queue.pop(), 7);
}

TEST(SpscQueue, AnItemIsDestroyedAsSoonAsItIsTakenOutOrRefused)
{
    const auto counted = std::make_shared<int>(0);
    {
        SpscQueue<std::shared_ptr<int>> queue(2);
        queue.push(counted);
        queue.push(counted);
        queue.push(counted);
        EXPECT_EQ(counted.use_count(), 3);
        (void)queue.pop();
        EXPECT_EQ(counted.use_count(), 2);
        queue.clear();
        EXPECT_EQ(counted.use_count(), 1);
        queue.push(counted);
    }
    EXPECT_EQ(counted.use_count(), 1);
}

TEST(SpscQueue, MoveOnlyItemsAreAccepted)
{
    SpscQueue<std::unique_ptr<int>> queue(1);
    queue.push(std::make_unique<int>(7));
    EXPECT_EQ(**queue.pop(), 7);
}

TEST(SpscQueue, OnlyTheConstructorAllocates)
{
    SpscQueue<std::uint64_t> queue(4);
    const std::size_t before = iio_stream::test::allocations();
    for (std::uint64_t i = 0; i < 100; ++i) {
        queue.push(i);
        (void)queue.pop();
    }
    EXPECT_EQ(iio_stream::test::allocations(), before);
}

TEST(SpscQueue, BetweenTwoThreadsEachItemArrivesOnceAndComplete)
{
    struct Item {
        std::uint64_t number, again;
    };
    constexpr std::uint64_t kItems = 20'000; // on a busy machine, a yield() takes milliseconds
    SpscQueue<Item> queue(5);
    std::thread producer([&] {
        for (std::uint64_t i = 0; i < kItems;) {
            if (queue.push({i, ~i}))
                ++i;
            else
                std::this_thread::yield();
        }
    });
    std::uint64_t wrong = 0;
    for (std::uint64_t next = 0; next < kItems;) {
        const auto item = queue.pop();
        if (!item) {
            std::this_thread::yield();
            continue;
        }
        wrong += item->number != next || item->again != ~next;
        ++next;
    }
    producer.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_TRUE(queue.is_empty());
}

} // namespace
