// SPDX-License-Identifier: MIT
#include "file/io/io_plan.hpp"

#include <gtest/gtest.h>

using namespace iio_stream;

TEST(IoSettings, TheDepthIsLimitedByTheTotalSizeOfTheBlocks)
{
    file::IoSettings settings;
    EXPECT_EQ(settings.depth_for(1 << 20, 80'000), 4U);
    EXPECT_EQ(settings.depth_for(1 << 20, 64 << 20), 16U);
    EXPECT_EQ(settings.depth_for(64 << 10, 64 << 20), 32U);
    settings.depth = 7;
    EXPECT_EQ(settings.depth_for(1 << 20, 80'000), 7U);
}
