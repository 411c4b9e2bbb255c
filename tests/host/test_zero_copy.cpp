// SPDX-License-Identifier: MIT
// Connections within this machine, where every send is a copy. For network cards, see
// tests/vm/test_serve_network.py.
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/network/tcp.hpp"
#include "sys/network/zero_copy.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

namespace zero_copy_test {

using namespace iio_stream;

struct Connection {
    Connection()
    {
        const sys::Listener listener(sys::HostPort::parse("", "127.0.0.1:0", ""), "");
        const std::string own = listener.addresses().at(0);
        ours = sys::start_connecting(
            sys::resolve(sys::HostPort::parse("", own, ""), sys::Use::connect).at(0));
        EXPECT_TRUE(sys::wait_for(listener.fds().at(0), POLLIN, sys::after(10'000'000'000)));
        theirs = sys::Listener::accept(listener.fds().at(0));
        EXPECT_TRUE(sys::wait_for(ours.get(), POLLOUT, sys::after(10'000'000'000)));
    }
    sys::UniqueFd ours, theirs;
};

TEST(ZeroCopy, WithinThisMachineEverySendIsACopy)
{
    Connection connection;
    const sys::ZeroCopy socket(connection.ours.get(), true);
    EXPECT_FALSE(socket.is_on());
    EXPECT_NE(std::string(socket.why_not()).find("this machine"), std::string::npos);
    EXPECT_EQ(socket.fd(), -1);
}

TEST(ZeroCopy, ACopyCanBeForced)
{
    Connection connection;
    const sys::ZeroCopy socket(connection.ours.get(), false);
    EXPECT_STREQ(socket.why_not(), "a copy was requested");
}

TEST(ZeroCopy, WithoutLeasesTheConnectionEndsAsUsual)
{
    Connection connection;
    std::array<std::byte, 4> bytes{};
    sys::ZeroCopy socket(connection.ours.get(), true);
    ASSERT_EQ(::send(connection.ours.get(), bytes.data(), bytes.size(), 0), 4);
    socket.read_completions();
    socket.abandon();
    connection.ours.reset();
    EXPECT_EQ(::recv(connection.theirs.get(), bytes.data(), bytes.size(), MSG_WAITALL), 4);
    EXPECT_EQ(::recv(connection.theirs.get(), bytes.data(), bytes.size(), 0), 0)
        << "expected an orderly end, not a reset";
}

} // namespace zero_copy_test
