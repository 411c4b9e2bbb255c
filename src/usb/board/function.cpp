// SPDX-License-Identifier: MIT
#include "usb/board/function.hpp"

#include "framing/bytes.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/named_thread.hpp"
#include "sys/stream_file.hpp"
#include "usb/board/gadget_dir.hpp"

#include <linux/usb/ch9.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <nlohmann/json.hpp>
#include <poll.h>

namespace iio_stream::usb {

namespace {

/// How long to wait until the thread has handled events. The thread may be serving a request that
/// the host does not finish.
constexpr std::chrono::seconds kTimeout{10};

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

void Function::listen()
{
    while (const auto setup = read_events())
        serve(*setup);
}

void Function::expect(Direction direction)
{
    const Turn turn(mutex_);
    EndSlot& s = slot(direction);
    if (s.taken)
        fail_usage("ffs:" + mount_ + " is used twice in one direction",
                   "a mount has one stream to the host and one from the host");
    s.taken = s.awaited = true;
}

void Function::forget(Direction direction) noexcept
{
    const Turn turn(mutex_);
    slot(direction) = {};
}

void Function::join(Direction direction, FunctionEnd& end, Turn& turn)
{
    changed_.wait(turn, [this] { return !closing_; });
    EndSlot& s = slot(direction);
    s.end = &end;
    s.awaited = false;
    if (!is_open())
        open();
}

void Function::leave(Direction direction, Turn& turn) noexcept
{
    slot(direction).end = nullptr;
    const auto joined = [](const EndSlot& s) { return s.end != nullptr; };
    if (std::any_of(slots_.begin(), slots_.end(), joined))
        return;
    closing_ = true;
    over_.set();
    turn.unlock();
    if (thread_.joinable())
        thread_.join(); // takes up to a second if the host does not finish its request
    turn.lock();
    over_.clear();
    ep0_ = {};
    enabled_ = closing_ = false;
    for (EndSlot& s : slots_) // the ends of the next stream have to join again
        s.awaited = s.taken;
    changed_.notify_all();
}

void Function::catch_up()
{
    if (failure_)
        std::rethrow_exception(failure_);
    if (!happened_.is_set())
        return;
    Turn turn(mutex_, std::adopt_lock);
    const bool done =
        changed_.wait_for(turn, kTimeout, [this] { return failure_ || !happened_.is_set(); });
    turn.release();
    if (failure_)
        std::rethrow_exception(failure_);
    if (!done)
        throw Error(Fault::device, ETIMEDOUT, "listen to", path_);
}

void Function::open()
{
    if (!sys::path_exists(path_))
        throw Error(Fault::device, ENODEV, "open", path_, "no FunctionFS is mounted there",
                    "iio-stream gadget up mounts one at /run/iio-stream/ffs");
    // The kernel would let several programs open it, and mix up their requests.
    if (const auto holders = sys::holders_of(path_); !holders.empty())
        throw Error(Fault::device, EBUSY, "open", path_,
                    "process " + holders.front() + " is streaming through it");
    enabled_ = false;
    failure_ = nullptr;
    happened_.clear();
    // The id is new, so that a host cannot mistake blocks of an earlier stream for blocks of this
    // one.
    stream_id_ = static_cast<std::uint32_t>(sys::realtime_ns() / 1'000'000);
    try {
        ep0_ = sys::open_file(path_, O_RDWR | O_NONBLOCK);
        sys::ffs_describe(ep0_.get(), path_, function_descriptors(happened_.fd()));
        sys::ffs_describe(ep0_.get(), path_, function_strings("iio-stream samples"));
        bind_function(mount_);
        thread_ = std::thread([this] {
            const sys::NamedThread name("iios-usb-ep0");
            run();
        });
    } catch (...) {
        ep0_ = {};
        throw;
    }
}

void Function::wake_all() noexcept
{
    notify([](FunctionEnd& end) { end.wake(); });
    changed_.notify_all();
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

// Reads the events up to the next request, because FunctionFS treats every later read as the data
// stage of that request until it is answered. Clears the flag and reads in one turn, so that in
// every other turn an event is either flagged or reported.
std::optional<sys::UsbSetup> Function::read_events()
{
    const Turn turn(mutex_);
    happened_.clear();
    while (const auto event = sys::ffs_event(ep0_.get(), path_)) {
        switch (event->kind) {
        case sys::FfsEvent::Kind::enable:
            enabled_ = true;
            notify([](FunctionEnd& end) { end.on_enable(); });
            break;
        // The kernel discards an UNBIND that is not read before a BIND.
        case sys::FfsEvent::Kind::bind:
        case sys::FfsEvent::Kind::unbind:
        case sys::FfsEvent::Kind::disable:
            enabled_ = false;
            notify([](FunctionEnd& end) { end.on_disable(); });
            if (event->kind != sys::FfsEvent::Kind::disable)
                notify([](FunctionEnd& end) { end.on_unbind(); });
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

// Answers a request. The host can access only the streams that the command line has opened, the
// attributes that it allows, and the information about both. Does not hold a turn while it waits
// for the host, so that an end can leave meanwhile.
void Function::serve(const sys::UsbSetup& setup)
{
    if (!serve_text(setup) && !serve_get_attribute(setup) && !serve_set_attribute(setup) &&
        !serve_ended(setup) && !serve_stream(setup))
        sys::ffs_stall(ep0_.get(), setup.to_host());
}

bool Function::serve_stream(const sys::UsbSetup& setup)
{
    const bool start = is(setup, Request::start, true) && setup.length >= kStartBytes;
    const bool stop = is(setup, Request::stop, false) && setup.length == 0;
    const bool again = start && setup.value == kStartAgain;
    if ((!start && !stop) || (setup.value >= slots_.size() && !again))
        return false;
    {
        const Turn turn(mutex_);
        FunctionEnd* end = slot(again ? Direction::to_board : Direction{setup.value}).end;
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

// Acknowledges kStopEnded if the stream to the board is over; this includes a stream whose end has
// left.
bool Function::serve_ended(const sys::UsbSetup& setup)
{
    if (!is(setup, Request::stop, false) || setup.length != 0 || setup.value != kStopEnded)
        return false;
    {
        const Turn turn(mutex_);
        const EndSlot& s = slot(Direction::to_board);
        if (!s.taken || s.awaited || (s.end != nullptr && !s.end->has_ended()))
            return false;
        wake_all();
    }
    sys::ffs_accept(ep0_.get());
    return true;
}

std::string Function::info() const
{
    framing::PeerInfo info{{}, {}, kVersion};
    if (const EndSlot& s = slot(Direction::to_host); s.end != nullptr)
        info.to_host = s.end->shape();
    if (const EndSlot& s = slot(Direction::to_board); s.end != nullptr)
        info.to_board = s.end->shape();
    return framing::info_json(info, {sys::monotonic_ns(), sys::realtime_ns()});
}

// Returns nullopt if the request is not for a text, or if the text is not ready and the host has to
// repeat the request.
std::optional<std::string> Function::text(const sys::UsbSetup& setup)
{
    const Turn turn(mutex_);
    if (is(setup, Request::get_stats, true))
        return stats();
    if (!is(setup, Request::get_info, true) ||
        std::any_of(slots_.begin(), slots_.end(), [](const EndSlot& s) { return s.awaited; }))
        return std::nullopt;
    if (setup.value == 0) // later offsets refer to the same text
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

FunctionEnd* Function::end_with(std::size_t attribute) const noexcept
{
    FunctionEnd* end = slot(Direction::to_host).end;
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

// The host gets its acknowledgement as soon as it has sent all data; the next GET_ATTR reports the
// result.
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

// Sends at most as much of `text` as the host has requested.
void Function::reply(const sys::UsbSetup& setup, std::string_view text)
{
    sys::ffs_reply(ep0_.get(), std::as_bytes(std::span(text.substr(0, setup.length))));
}

void Function::reply_start(std::uint32_t stream_id)
{
    std::array<std::byte, kStartBytes> reply;
    framing::put_number(reply.data(), stream_id, 4);
    framing::put_number(reply.data() + 4, static_cast<std::uint64_t>(sys::monotonic_ns()), 8);
    sys::ffs_reply(ep0_.get(), reply);
}

std::string Function::stats() const
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    constexpr const char* kKeys[] = {"to_host", "to_board"};
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].end != nullptr)
            json[kKeys[i]] = nlohmann::ordered_json::parse(slots_[i].end->stats_json());
    return json.dump();
}

} // namespace iio_stream::usb
