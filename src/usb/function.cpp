// SPDX-License-Identifier: MIT
#include "usb/function.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"
#include "usb/gadget_dir.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <poll.h>

namespace iio_stream::usb {

namespace {

/// Wakes the thread to handle events: it may be in a request that the host does not finish.
constexpr std::chrono::seconds kPatience{10};

} // namespace

std::shared_ptr<Function> Function::at(const std::string& mount)
{
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<Function>> all;
    const std::lock_guard guard(mutex);
    std::weak_ptr<Function>& known = all[mount];
    auto function = known.lock();
    if (!function)
        known = function = std::make_shared<Function>(mount);
    return function;
}

void Function::expect(Direction direction)
{
    const Turn turn(mutex_);
    Seat& s = seat(direction);
    if (s.taken)
        fail_usage("ffs:" + mount_ + " is there twice",
                   "a mount has one stream to the host and one from it");
    s.taken = s.awaited = true;
}

void Function::forget(Direction direction) noexcept
{
    const Turn turn(mutex_);
    seat(direction) = {};
}

void Function::join(Direction direction, FunctionEnd& end, Turn& turn)
{
    changed_.wait(turn, [this] { return !closing_; });
    Seat& s = seat(direction);
    s.end = &end;
    s.awaited = false;
    if (!is_open())
        open();
}

void Function::leave(Direction direction, Turn& turn) noexcept
{
    seat(direction).end = nullptr;
    const auto joined = [](const Seat& s) { return s.end != nullptr; };
    if (std::any_of(seats_.begin(), seats_.end(), joined))
        return;
    closing_ = true;
    over_.set();
    turn.unlock();
    if (thread_.joinable())
        thread_.join(); // a host that does not finish its request has a second
    turn.lock();
    over_.clear();
    ep0_ = {};
    enabled_ = closing_ = false;
    for (Seat& s : seats_) // of another stream
        s.awaited = s.taken;
    changed_.notify_all();
}

void Function::open()
{
    if (!sys::path_exists(path_))
        throw Error(Fault::device, ENODEV, "open", path_, "no FunctionFS is mounted there",
                    "iio-stream gadget up mounts one at /run/iio-stream/ffs");
    // The kernel lets several in, and would mix them up.
    if (const auto holders = sys::holders_of(path_); !holders.empty())
        throw Error(Fault::device, EBUSY, "open", path_,
                    "process " + holders.front() + " streams through it");
    enabled_ = false;
    failure_ = nullptr;
    happened_.clear();
    // So that a host cannot take an earlier stream's blocks for this one's.
    stream_id_ = static_cast<std::uint32_t>(sys::realtime_ns() / 1'000'000);
    try {
        ep0_ = sys::open_file(path_, O_RDWR | O_NONBLOCK);
        sys::ffs_describe(ep0_.get(), path_, function_descriptors(happened_.fd()));
        sys::ffs_describe(ep0_.get(), path_, function_strings("iio-stream samples"));
        bind_function(mount_);
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        ep0_ = {};
        throw;
    }
}

void Function::run() noexcept
{
    sys::block_write_signals();
    try {
        for (;;) {
            pollfd fds[] = {{happened_.fd(), POLLIN, 0}, {over_.fd(), POLLIN, 0}};
            (void)::poll(fds, std::size(fds), -1);
            if (fds[1].revents != 0)
                return;
            listen();
        }
    } catch (...) {
        const Turn turn(mutex_);
        failure_ = std::current_exception();
        wake_all();
    }
}

void Function::wake_all() noexcept
{
    tell([](FunctionEnd& end) { end.wake(); });
    changed_.notify_all();
}

void Function::catch_up()
{
    if (failure_)
        std::rethrow_exception(failure_);
    if (!happened_.is_set())
        return;
    Turn turn(mutex_, std::adopt_lock);
    const bool heard =
        changed_.wait_for(turn, kPatience, [this] { return failure_ || !happened_.is_set(); });
    turn.release();
    if (failure_)
        std::rethrow_exception(failure_);
    if (!heard)
        throw Error(Fault::device, ETIMEDOUT, "listen to", path_);
}

void Function::listen()
{
    while (const auto setup = tell_events())
        serve(*setup);
}

// Up to a request: until it is answered, FunctionFS takes a read for its data stage. In one turn
// from the clearing on, so that every other turn finds an event either in the flag or reported.
std::optional<sys::UsbSetup> Function::tell_events()
{
    const Turn turn(mutex_);
    happened_.clear();
    while (const auto event = sys::ffs_event(ep0_.get(), path_)) {
        switch (event->kind) {
        case sys::FfsEvent::Kind::enable:
            enabled_ = true;
            tell([](FunctionEnd& end) { end.on_enable(); });
            break;
        case sys::FfsEvent::Kind::bind: // the kernel forgets an UNBIND that was not read before
        case sys::FfsEvent::Kind::unbind:
        case sys::FfsEvent::Kind::disable:
            enabled_ = false;
            tell([](FunctionEnd& end) { end.on_disable(); });
            if (event->kind != sys::FfsEvent::Kind::disable)
                tell([](FunctionEnd& end) { end.on_unbind(); });
            break;
        case sys::FfsEvent::Kind::setup:
            wake_all();
            return event->setup;
        default: // suspend, resume
            break;
        }
    }
    wake_all();
    return std::nullopt;
}

} // namespace iio_stream::usb
