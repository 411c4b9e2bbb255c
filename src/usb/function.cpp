// SPDX-License-Identifier: MIT
#include "usb/function.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "usb/bytes.hpp"
#include "usb/descriptors.hpp"
#include "usb/gadget_dir.hpp"

#include <linux/usb/ch9.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::usb {

namespace {

bool is_vendors(const sys::UsbSetup& setup)
{
    return (setup.type & (USB_TYPE_MASK | USB_RECIP_MASK)) ==
           (USB_TYPE_VENDOR | USB_RECIP_INTERFACE);
}

} // namespace

void Function::open()
{
    if (is_open())
        return;
    if (!sys::path_exists(path_))
        throw Error(Fault::device, ENODEV, "open", path_, "no FunctionFS is mounted there",
                    "iio-stream gadget up mounts one at /run/iio-stream/ffs");
    // The kernel lets several in, and would mix them up.
    if (const auto holders = sys::holders_of(path_); !holders.empty())
        throw Error(Fault::device, EBUSY, "open", path_,
                    "process " + holders.front() + " streams through it");
    try {
        ep0_ = sys::open_file(path_, O_RDWR | O_NONBLOCK);
        sys::ffs_describe(ep0_.get(), path_, function_descriptors());
        sys::ffs_describe(ep0_.get(), path_, function_strings("iio-stream samples"));
        bind_function(mount_);
    } catch (...) {
        ep0_ = {};
        throw;
    }
    // So that a host cannot take an earlier stream's blocks for this one's.
    stream_id_ = static_cast<std::uint32_t>(sys::realtime_ns() / 1'000'000);
}

Function::News Function::listen()
{
    News news;
    while (const auto event = sys::ffs_event(ep0_.get(), path_)) {
        switch (event->kind) {
        case sys::FfsEvent::Kind::enable:
            news.enabled = true;
            news.disabled = false;
            break;
        case sys::FfsEvent::Kind::unbind:
            news.unbound = true;
            [[fallthrough]];
        case sys::FfsEvent::Kind::disable:
            news.disabled = true;
            news.enabled = false;
            break;
        case sys::FfsEvent::Kind::setup:
            serve(event->setup, news);
            break;
        default: // bind, suspend, resume
            break;
        }
    }
    return news;
}

// All that the cable can reach.
void Function::serve(const sys::UsbSetup& setup, News& news)
{
    const auto is = [&](Request request, bool to_host) {
        return is_vendors(setup) && setup.request == static_cast<unsigned>(request) &&
               setup.to_host() == to_host;
    };
    if (is(Request::get_info, true))
        return reply_text(answers_.info, setup);
    if (is(Request::get_stats, true))
        return reply_text(answers_.stats ? answers_.stats() : "", setup);
    if (is(Request::start, true) && setup.length >= kStartBytes) {
        news.started = true;
        news.stopped = false;
        return reply_start();
    }
    if (is(Request::stop, false) && setup.length == 0) {
        news.stopped = true;
        news.started = false;
        return sys::ffs_accept(ep0_.get());
    }
    sys::ffs_stall(ep0_.get(), setup.to_host());
}

// The part of it from byte `value` on, as much as was asked for.
void Function::reply_text(const std::string& text, const sys::UsbSetup& setup)
{
    const std::size_t from = std::min<std::size_t>(setup.value, text.size());
    const std::size_t bytes = std::min<std::size_t>(setup.length, text.size() - from);
    sys::ffs_reply(ep0_.get(), std::as_bytes(std::span(text)).subspan(from, bytes));
}

void Function::reply_start()
{
    std::array<std::byte, kStartBytes> reply;
    put_number(reply.data(), ++stream_id_, 4);
    put_number(reply.data() + 4, static_cast<std::uint64_t>(sys::monotonic_ns()), 8);
    sys::ffs_reply(ep0_.get(), reply);
}

} // namespace iio_stream::usb
