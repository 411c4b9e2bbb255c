// SPDX-License-Identifier: MIT
#include "serve/timeouts.hpp"

#include <gtest/gtest.h>

namespace iio_stream::serve {
namespace {

TEST(ServeTimeouts, AreThoseOfTheConnectionAndElseTheLongestOfItsHost)
{
    Timeouts timeouts;
    EXPECT_EQ(timeouts.of("10.0.0.1:1"), 2500U);
    timeouts.set("10.0.0.1:1", 10'000);
    timeouts.set("10.0.0.1:2", 100);
    timeouts.set("10.0.0.10:1", 99'999);
    EXPECT_EQ(timeouts.of("10.0.0.1:2"), 100U);
    EXPECT_EQ(timeouts.of("10.0.0.1:3"), 10'000U);
    EXPECT_EQ(timeouts.of("[::1]:3"), 2500U);
}

TEST(ServeTimeouts, WithoutAnEndIsTheLongestUntilItsClientLeaves)
{
    Timeouts timeouts;
    timeouts.set("[::1]:1", 100);
    timeouts.set("[::1]:2", 0);
    EXPECT_EQ(timeouts.of("[::1]:3"), 0U);
    timeouts.forget("[::1]:2");
    EXPECT_EQ(timeouts.of("[::1]:3"), 100U);
    timeouts.forget("[::1]:1");
    EXPECT_EQ(timeouts.of("[::1]:3"), 2500U);
}

} // namespace
} // namespace iio_stream::serve
