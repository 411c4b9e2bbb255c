// SPDX-License-Identifier: MIT
#include "core/base/histogram.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

namespace {

using iio_stream::detail::Histogram;

TEST(Histogram, AnEmptyHistogramReturnsZeros)
{
    const Histogram h;
    EXPECT_EQ(h.percentile(0.5), 0u);
    EXPECT_EQ(h.percentile(1.0), 0u);
    EXPECT_EQ(h.max(), 0u);
}

TEST(Histogram, SmallValuesAreExact)
{
    Histogram h;
    for (int i = 0; i < 16; ++i)
        h.add(i);
    EXPECT_EQ(h.percentile(0.5), 8u);
    EXPECT_EQ(h.percentile(0.0), 0u);
    EXPECT_EQ(h.max(), 15u);
}

TEST(Histogram, PercentilesAreAtMostASixteenthTooHighAndNeverTooLow)
{
    for (std::int64_t value = 1; value > 0 && value < std::numeric_limits<std::int64_t>::max() / 3;
         value = value * 3 / 2 + 1) {
        Histogram h;
        for (int i = 0; i < 99; ++i)
            h.add(value);
        h.add(std::numeric_limits<std::int64_t>::max());
        const auto exact = static_cast<double>(value);
        const auto found = static_cast<double>(h.percentile(0.5));
        ASSERT_GE(found, exact);
        ASSERT_LE(found, exact * (1 + 1.0 / 16));
    }
}

TEST(Histogram, APercentileIsNeverAboveTheLargestValue)
{
    Histogram h;
    h.add(1000);
    EXPECT_EQ(h.percentile(0.5), 1000u);
    EXPECT_EQ(h.percentile(0.999), 1000u);
}

TEST(Histogram, TheLargestAndNegativeValuesHaveABucket)
{
    Histogram h;
    h.add(std::numeric_limits<std::int64_t>::max());
    h.add(-5);
    EXPECT_EQ(h.max(), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(h.percentile(0.0), 0u);
    EXPECT_EQ(h.percentile(0.9), h.max());
}

TEST(Histogram, HistogramsCanBeAdded)
{
    Histogram a, b;
    for (int i = 0; i < 90; ++i)
        a.add(10);
    for (int i = 0; i < 10; ++i)
        b.add(1'000'000);
    a.add(b);
    EXPECT_EQ(a.percentile(0.5), 10u);
    EXPECT_EQ(a.percentile(0.95), 1'000'000u);
    EXPECT_EQ(a.max(), 1'000'000u);
}

} // namespace
