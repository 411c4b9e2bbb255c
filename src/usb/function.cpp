// SPDX-License-Identifier: MIT
#include "usb/function.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "usb/bytes.hpp"
#include "usb/gadget_dir.hpp"

#include <linux/usb/ch9.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <nlohmann/json.hpp>

namespace iio_stream::usb {

namespace {

bool is_vendors(const sys::UsbSetup& setup)
{
    return (setup.type & (USB_TYPE_MASK | USB_RECIP_MASK)) ==
           (USB_TYPE_VENDOR | USB_RECIP_INTERFACE);
}

bool is(const sys::UsbSetup& setup, Request request, bool to_host)
{
    return is_vendors(setup) && setup.request == static_cast<unsigned>(request) &&
           setup.to_host() == to_host;
}

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
    const std::lock_guard guard(seats_mutex_);
    Seat& s = seat(direction);
    if (s.taken)
        fail_usage("ffs:" + mount_ + " is there twice",
                   "a mount has one stream to the host and one from it");
    const bool second = any_taken();
    if (second && settled_ && !turns_.shared)
        fail_usage("ffs:" + mount_ + " streams in the other direction only",
                   "both have to be there before one of them is prepared");
    if (!settled_)
        turns_.shared = second;
    const Turn turn(turns_);
    s.taken = s.awaited = true;
}

bool Function::any_taken() const noexcept
{
    return std::any_of(seats_.begin(), seats_.end(), [](const Seat& s) { return s.taken; });
}

void Function::settle()
{
    const std::lock_guard guard(seats_mutex_);
    settled_ = true;
}

void Function::forget(Direction direction) noexcept
{
    const std::lock_guard guard(seats_mutex_);
    {
        const Turn turn(turns_);
        seat(direction) = {};
    }
    if (!any_taken())
        settled_ = false;
}

void Function::join(Direction direction, FunctionEnd& end)
{
    Seat& s = seat(direction);
    s.end = &end;
    s.awaited = false;
    if (!is_open())
        open();
}

void Function::leave(Direction direction) noexcept
{
    seat(direction).end = nullptr;
    const auto joined = [](const Seat& s) { return s.end != nullptr; };
    if (std::any_of(seats_.begin(), seats_.end(), joined))
        return;
    ep0_ = {};
    enabled_ = false;
    for (Seat& s : seats_) // of another stream
        s.awaited = s.taken;
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
    // So that a host cannot take an earlier stream's blocks for this one's.
    stream_id_ = static_cast<std::uint32_t>(sys::realtime_ns() / 1'000'000);
    try {
        ep0_ = sys::open_file(path_, O_RDWR | O_NONBLOCK);
        sys::ffs_describe(ep0_.get(), path_, function_descriptors());
        sys::ffs_describe(ep0_.get(), path_, function_strings("iio-stream samples"));
        bind_function(mount_);
    } catch (...) {
        ep0_ = {};
        throw;
    }
}

void Function::listen()
{
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
            serve(event->setup);
            break;
        default: // suspend, resume
            break;
        }
    }
}

// All that the cable can reach: the streams that the command line has opened, the attributes that it
// allows, and what is said of them.
void Function::serve(const sys::UsbSetup& setup)
{
    if (!serve_text(setup) && !serve_attribute(setup) && !serve_ended(setup) &&
        !serve_stream(setup))
        sys::ffs_stall(ep0_.get(), setup.to_host());
}

bool Function::serve_text(const sys::UsbSetup& setup)
{
    std::string text;
    if (is(setup, Request::get_info, true)) {
        for (const Seat& s : seats_)
            if (s.awaited)
                return false; // the host asks again
        if (setup.value == 0) // what follows is of the same text
            info_ = info();
        text = info_;
    } else if (is(setup, Request::get_stats, true)) {
        text = stats();
    } else {
        return false;
    }
    reply(setup, std::string_view(text).substr(std::min<std::size_t>(setup.value, text.size())));
    return true;
}

std::string Function::info() const
{
    BoardInfo info{{}, {}, kVersion};
    if (const Seat& s = seat(Direction::to_host); s.end != nullptr)
        info.to_host = s.end->shape();
    if (const Seat& s = seat(Direction::to_board); s.end != nullptr)
        info.to_board = s.end->shape();
    return info_json(info, {sys::monotonic_ns(), sys::realtime_ns()});
}

// As much of it as was requested.
void Function::reply(const sys::UsbSetup& setup, std::string_view text)
{
    sys::ffs_reply(ep0_.get(), std::as_bytes(std::span(text.substr(0, setup.length))));
}

// What becomes of a SET_ATTR, the next GET_ATTR tells: the host has its answer when it has sent all.
bool Function::serve_attribute(const sys::UsbSetup& setup)
{
    FunctionEnd* end = seat(Direction::to_host).end;
    if (end == nullptr || setup.value >= end->shape().attributes.size())
        return false;
    if (is(setup, Request::get_attr, true)) {
        const auto answer = end->attribute(setup.value);
        if (answer)
            reply(setup, *answer);
        return answer.has_value();
    }
    if (!is(setup, Request::set_attr, false) || setup.length == 0 ||
        setup.length > kLongestValue || !end->can_set_attribute())
        return false;
    std::string value(setup.length, '\0');
    if (sys::ffs_receive(ep0_.get(), std::as_writable_bytes(std::span(value))))
        end->set_attribute(setup.value, value);
    return true;
}

// Where its end has left, the stream is over.
bool Function::serve_ended(const sys::UsbSetup& setup)
{
    const Seat& s = seat(Direction::to_board);
    if (!is(setup, Request::stop, false) || setup.length != 0 || setup.value != kStopEnded ||
        !s.taken || s.awaited || (s.end != nullptr && !s.end->has_ended()))
        return false;
    sys::ffs_accept(ep0_.get());
    return true;
}

bool Function::serve_stream(const sys::UsbSetup& setup)
{
    const bool start = is(setup, Request::start, true) && setup.length >= kStartBytes;
    const bool stop = is(setup, Request::stop, false) && setup.length == 0;
    const bool again = start && setup.value == kStartAgain;
    if ((!start && !stop) || (setup.value >= seats_.size() && !again))
        return false;
    FunctionEnd* end = seat(again ? Direction::to_board : Direction{setup.value}).end;
    if (end == nullptr)
        return false;
    if (stop) {
        end->on_stop();
        sys::ffs_accept(ep0_.get());
        return true;
    }
    end->on_start(++stream_id_, again);
    reply_start(stream_id_);
    return true;
}

void Function::reply_start(std::uint32_t stream_id)
{
    std::array<std::byte, kStartBytes> reply;
    put_number(reply.data(), stream_id, 4);
    put_number(reply.data() + 4, static_cast<std::uint64_t>(sys::monotonic_ns()), 8);
    sys::ffs_reply(ep0_.get(), reply);
}

std::string Function::stats() const
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    constexpr const char* kKeys[] = {"to_host", "to_board"};
    for (std::size_t i = 0; i < seats_.size(); ++i)
        if (seats_[i].end != nullptr)
            json[kKeys[i]] = nlohmann::ordered_json::parse(seats_[i].end->stats_json());
    return json.dump();
}

} // namespace iio_stream::usb
