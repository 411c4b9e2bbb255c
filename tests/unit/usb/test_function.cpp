// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"
#include "support/eventually.hpp"
#include "usb/board/function.hpp"

#include <linux/usb/functionfs.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::usb;

TEST(UsbFunction, EachMountHasOneFunction)
{
    const auto one = Function::at("/nowhere");
    EXPECT_EQ(Function::at("/nowhere"), one);
    EXPECT_NE(Function::at("/elsewhere"), one);
}

TEST(UsbFunction, EachDirectionExistsOnce)
{
    Function function("/nowhere");
    function.expect(Direction::to_host);
    function.expect(Direction::to_board);
    EXPECT_THROW(function.expect(Direction::to_host), Error);
    function.forget(Direction::to_host);
    function.expect(Direction::to_host);
}

/// An end that records its calls, and has one attribute.
class NotingEnd final : public FunctionEnd {
public:
    NotingEnd() { shape_.attributes = {"gain"}; }
    void on_enable() override {}
    void on_disable() override { ++disabled; }
    void on_unbind() override {}
    void on_start(std::uint32_t, bool) override {}
    void on_stop() override {}
    void wake() noexcept override {}
    const framing::StreamShape& shape() const override { return shape_; }
    bool can_set_attribute() const override { return asked = true; }
    void set_attribute(std::size_t, const std::string& text) override { value = text; }
    std::string stats_json() const override { return "{}"; }

    std::atomic<int> disabled{0};
    mutable std::atomic<bool> asked{false};
    std::string value;

private:
    framing::StreamShape shape_;
};

usb_functionfs_event an_event(std::uint8_t type)
{
    usb_functionfs_event event{};
    event.type = type;
    return event;
}

/// A SET_ATTR request for the end's attribute. Its data stage follows.
usb_functionfs_event a_request_of_two_bytes()
{
    usb_functionfs_event event = an_event(FUNCTIONFS_SETUP);
    event.u.setup = {.bRequestType = 0x41, .bRequest = 6, .wValue = 0, .wIndex = 0, .wLength = 2};
    return event;
}

/// A function whose ep0 is a socket, and the kernel's end of that socket. As in FunctionFS, a data
/// stage can wait. Reads of events can wait, too, so an empty packet marks the end of the events.
class Cable {
public:
    Cable()
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::system_error(errno, std::generic_category());
        kernel_ = sys::UniqueFd(ends[0]);
        function.emplace("/nowhere", sys::UniqueFd(ends[1]));
        function->expect(Direction::to_host);
        Turn turn = function->turn();
        function->join(Direction::to_host, end, turn);
    }
    ~Cable()
    {
        kernel_ = {}; // makes a read of ep0 return
        if (thread_.joinable())
            thread_.join();
    }

    void listen()
    {
        thread_ = std::thread([this] { function->listen(); });
    }
    void send(const void* data, std::size_t bytes)
    {
        ASSERT_EQ(::write(kernel_.get(), data, bytes), static_cast<ssize_t>(bytes));
    }
    void no_more() { ASSERT_EQ(::send(kernel_.get(), "", 0, 0), 0); }
    void happen(const usb_functionfs_event& event)
    {
        send(&event, sizeof event);
        if (event.type != FUNCTIONFS_SETUP)
            no_more();
        const std::uint64_t one = 1;
        ASSERT_EQ(::write(function->fd(), &one, sizeof one), ssize_t{sizeof one});
    }

    NotingEnd end;
    std::optional<Function> function;

private:
    sys::UniqueFd kernel_;
    std::thread thread_;
};

TEST(UsbFunction, AnIoctlWaitsForPendingEvents)
{
    Cable cable;
    const Turn turn = cable.function->turn();
    cable.function->catch_up(); // no events are pending
    cable.happen(an_event(FUNCTIONFS_DISABLE));
    cable.listen();
    cable.function->catch_up();
    EXPECT_EQ(cable.end.disabled, 1);
}

TEST(UsbFunction, WaitingForTheHostHoldsNoLock)
{
    Cable cable;
    cable.happen(a_request_of_two_bytes());
    cable.listen();
    ASSERT_TRUE(test::eventually([&] { return cable.end.asked.load(); }));
    {
        const Turn turn = cable.function->turn();
        cable.function->catch_up(); // an ioctl does not wait either
        EXPECT_EQ(cable.end.value, "");
    }
    cable.send("12", 2); // in time only if nothing has waited for the one-second deadline
    cable.no_more();
    EXPECT_TRUE(test::eventually([&] {
        const Turn turn = cable.function->turn();
        return cable.end.value == "12";
    }));
}

TEST(UsbFunction, AnUnfinishedRequestIsAbandoned)
{
    Cable cable;
    cable.happen(a_request_of_two_bytes());
    cable.listen();
    ASSERT_TRUE(test::eventually([&] { return cable.end.asked.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    cable.happen(an_event(FUNCTIONFS_DISABLE));
    EXPECT_TRUE(test::eventually([&] { return cable.end.disabled == 1; }));
    EXPECT_EQ(cable.end.value, "");
}

} // namespace
