// SPDX-License-Identifier: MIT
#include "iio_stream/server.hpp"
#include "serve/server_state.hpp"

#include <gtest/gtest.h>

namespace iio_stream::serve {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(ServeTimeouts, TheLongestTimeoutOfAHostApplies)
{
    HostTimeout timeout;
    EXPECT_EQ(timeout.ns(), 5 * kSecond / 2);
    timeout.replace(0, kSecond / 10);
    EXPECT_EQ(timeout.ns(), kSecond / 10); // the only timeout that was set
    timeout.replace(0, 10 * kSecond);
    timeout.replace(0, kSecond);
    EXPECT_EQ(timeout.ns(), 10 * kSecond);
    timeout.replace(10 * kSecond, 2 * kSecond); // libiio sets its default first
    EXPECT_EQ(timeout.ns(), 2 * kSecond);
    timeout.replace(2 * kSecond, 0);
    EXPECT_EQ(timeout.ns(), 2 * kSecond); // buffers can outlive the connection
    timeout.replace(kSecond, INT64_MAX);
    EXPECT_EQ(timeout.ns(), INT64_MAX);
}

TEST(ServeTimeouts, AHostKeepsItsTimeoutWhileItHasAConnection)
{
    ServerState state{ServerConfig()};
    auto first = state.timeout_of("10.0.0.1"), second = state.timeout_of("10.0.0.1");
    first->replace(0, 10 * kSecond);
    EXPECT_NE(state.timeout_of("10.0.0.10")->ns(), 10 * kSecond);
    first.reset();
    EXPECT_EQ(state.timeout_of("10.0.0.1")->ns(), 10 * kSecond);
    second.reset();
    EXPECT_NE(state.timeout_of("10.0.0.1")->ns(), 10 * kSecond);
}

} // namespace
} // namespace iio_stream::serve
