// SPDX-License-Identifier: MIT
#include "core/base/fifo.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace {

using iio_stream::detail::Fifo;

TEST(Fifo, ItemsComeOutInTheOrderInWhichTheyWentIn)
{
    Fifo<int> fifo;
    fifo.reset(3);
    int in = 0, out = 0;
    for (int round = 0; round < 10; ++round) { // slots are reused cyclically
        fifo.push(in++);
        fifo.push(in++);
        EXPECT_EQ(fifo.size(), 2u);
        EXPECT_EQ(fifo.front(), out);
        EXPECT_EQ(fifo.back(), in - 1);
        EXPECT_EQ(fifo.pop(), out++);
        EXPECT_EQ(fifo.pop(), out++);
        EXPECT_TRUE(fifo.empty());
    }
}

TEST(Fifo, AFifoHoldsAsManyItemsAsItsCapacity)
{
    Fifo<int> fifo;
    fifo.reset(4);
    for (int i = 0; i < 4; ++i)
        fifo.push(i);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(fifo.pop(), i);
}

TEST(Fifo, APoppedOrClearedItemIsDestroyedImmediately)
{
    const auto counted = std::make_shared<int>(0);
    Fifo<std::shared_ptr<int>> fifo;
    fifo.reset(4);
    fifo.push(counted);
    fifo.push(counted);
    fifo.push(counted);
    (void)fifo.pop();
    EXPECT_EQ(counted.use_count(), 3);
    fifo.clear();
    EXPECT_EQ(counted.use_count(), 1);
    fifo.push(counted);
    fifo.reset(2);
    EXPECT_EQ(counted.use_count(), 1);
    EXPECT_TRUE(fifo.empty());
}

TEST(Fifo, MoveOnlyItemsAreAccepted)
{
    Fifo<std::unique_ptr<int>> fifo;
    fifo.reset(1);
    fifo.push(std::make_unique<int>(7));
    EXPECT_EQ(*fifo.pop(), 7);
}

} // namespace
