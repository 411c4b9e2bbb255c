// SPDX-License-Identifier: MIT
#include "file/parts/uploads.hpp"
#include "iio_stream/error.hpp"

#include <gtest/gtest.h>

using namespace iio_stream;

TEST(Uploads, ThePauseDoublesUpToAMinute)
{
    const std::int64_t second = 1'000'000'000;
    EXPECT_EQ(file::upload_pause(1), second);
    EXPECT_EQ(file::upload_pause(2), 2 * second);
    EXPECT_EQ(file::upload_pause(6), 32 * second);
    for (const unsigned failures : {7U, 8U, 64U, 100'000U})
        EXPECT_EQ(file::upload_pause(failures), 60 * second);
}

TEST(Uploads, WithAFastStoreTheDiskHoldsThePartsToKeepAndThreeMore)
{
    file::UploadSettings settings;
    EXPECT_EQ(settings.most_on_disk(100), kUnknown); // keep=all
    settings.left = 1000;
    EXPECT_EQ(settings.most_on_disk(100), 1300U);
    EXPECT_EQ(settings.most_on_disk(kUnknown), kUnknown); // parts by time, at an unknown rate
    EXPECT_TRUE(settings.keeps_pace({5, 4, 299, 0}, 100));
    EXPECT_FALSE(settings.keeps_pace({5, 2, 300, 0}, 100));
}
