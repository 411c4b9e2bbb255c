// SPDX-License-Identifier: MIT
#include "zmq/monitor.hpp"

#include <atomic>
#include <cstring>
#include <string>

namespace iio_stream::zmq {

namespace {

std::string monitor_address()
{
    static std::atomic<std::uint64_t> number{0};
    return "inproc://monitor-" + std::to_string(number++);
}

} // namespace

Monitor::Monitor(const Context& context, Socket& watched, int events)
    : watched_(watched), pair_(context, ZMQ_PAIR, monitor_address())
{
    watched_.monitor(pair_.address(), events);
    pair_.set(ZMQ_RCVHWM, 0); // no limit: libzmq's thread must not wait here
    pair_.open(false);
}

Monitor::~Monitor()
{
    watched_.monitor_nothing();
}

// Each event has two parts: a 16-bit event number with a 32-bit value, and the address.
std::optional<Monitor::Event> Monitor::next()
{
    Message message;
    if (!pair_.receive(message))
        return std::nullopt;
    std::uint16_t what = 0;
    std::int32_t value = 0;
    if (const auto bytes = message.bytes(); bytes.size() == sizeof what + sizeof value) {
        std::memcpy(&what, bytes.data(), sizeof what);
        std::memcpy(&value, bytes.data() + sizeof what, sizeof value);
    }
    while (message.more_follow() && pair_.receive(message))
        ;
    return Event{what, value};
}

} // namespace iio_stream::zmq
