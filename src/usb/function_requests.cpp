// SPDX-License-Identifier: MIT
// What the host asks of a function, and is answered.
#include "framing/bytes.hpp"
#include "sys/event.hpp"
#include "usb/function.hpp"

#include <linux/usb/ch9.h>

#include <algorithm>
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

// All that the cable can reach: the streams that the command line has opened, the attributes that
// it allows, and what is said of them. No turn is held while the host is waited for, and an end may
// leave meanwhile.
void Function::serve(const sys::UsbSetup& setup)
{
    if (!serve_text(setup) && !serve_get_attribute(setup) && !serve_set_attribute(setup) &&
        !serve_ended(setup) && !serve_stream(setup))
        sys::ffs_stall(ep0_.get(), setup.to_host());
}

// nullopt if it is not a requested text, or not ready: the host asks again.
std::optional<std::string> Function::text(const sys::UsbSetup& setup)
{
    const Turn turn(mutex_);
    if (is(setup, Request::get_stats, true))
        return stats();
    if (!is(setup, Request::get_info, true) ||
        std::any_of(seats_.begin(), seats_.end(), [](const Seat& s) { return s.awaited; }))
        return std::nullopt;
    if (setup.value == 0) // what follows is of the same text
        info_ = info();
    return info_;
}

bool Function::serve_text(const sys::UsbSetup& setup)
{
    const auto found = text(setup);
    if (found)
        reply(setup,
              std::string_view(*found).substr(std::min<std::size_t>(setup.value, found->size())));
    return found.has_value();
}

std::string Function::info() const
{
    framing::PeerInfo info{{}, {}, kVersion};
    if (const Seat& s = seat(Direction::to_host); s.end != nullptr)
        info.to_host = s.end->shape();
    if (const Seat& s = seat(Direction::to_board); s.end != nullptr)
        info.to_board = s.end->shape();
    return framing::info_json(info, {sys::monotonic_ns(), sys::realtime_ns()});
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

// As much of it as was asked for.
void Function::reply(const sys::UsbSetup& setup, std::string_view text)
{
    sys::ffs_reply(ep0_.get(), std::as_bytes(std::span(text.substr(0, setup.length))));
}

FunctionEnd* Function::end_with(std::size_t attribute) const noexcept
{
    FunctionEnd* end = seat(Direction::to_host).end;
    return end != nullptr && attribute < end->shape().attributes.size() ? end : nullptr;
}

bool Function::serve_get_attribute(const sys::UsbSetup& setup)
{
    if (!is(setup, Request::get_attr, true))
        return false;
    std::optional<std::string> answer;
    {
        const Turn turn(mutex_);
        if (FunctionEnd* end = end_with(setup.value))
            answer = end->attribute(setup.value);
    }
    if (answer)
        reply(setup, *answer);
    return answer.has_value();
}

// The next GET_ATTR reports the outcome: the host has its answer when it has sent all.
bool Function::serve_set_attribute(const sys::UsbSetup& setup)
{
    if (!is(setup, Request::set_attr, false) || setup.length == 0 || setup.length > kLongestValue)
        return false;
    {
        const Turn turn(mutex_);
        const FunctionEnd* end = end_with(setup.value);
        if (end == nullptr || !end->can_set_attribute())
            return false;
    }
    std::string value(setup.length, '\0');
    if (!sys::ffs_receive(ep0_.get(), std::as_writable_bytes(std::span(value))))
        return true;
    const Turn turn(mutex_);
    if (FunctionEnd* end = end_with(setup.value))
        end->set_attribute(setup.value, value);
    return true;
}

// Where its end has left, the stream is over.
bool Function::serve_ended(const sys::UsbSetup& setup)
{
    if (!is(setup, Request::stop, false) || setup.length != 0 || setup.value != kStopEnded)
        return false;
    {
        const Turn turn(mutex_);
        const Seat& s = seat(Direction::to_board);
        if (!s.taken || s.awaited || (s.end != nullptr && !s.end->has_ended()))
            return false;
        wake_all();
    }
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
    {
        const Turn turn(mutex_);
        FunctionEnd* end = seat(again ? Direction::to_board : Direction{setup.value}).end;
        if (end == nullptr)
            return false;
        if (stop)
            end->on_stop();
        else
            end->on_start(++stream_id_, again);
        wake_all();
    }
    if (stop)
        sys::ffs_accept(ep0_.get());
    else
        reply_start(stream_id_);
    return true;
}

void Function::reply_start(std::uint32_t stream_id)
{
    std::array<std::byte, kStartBytes> reply;
    framing::put_number(reply.data(), stream_id, 4);
    framing::put_number(reply.data() + 4, static_cast<std::uint64_t>(sys::monotonic_ns()), 8);
    sys::ffs_reply(ep0_.get(), reply);
}

} // namespace iio_stream::usb
