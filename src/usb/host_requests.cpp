// SPDX-License-Identifier: MIT
// The host's requests to the board, one by one: docs/usb-protocol.md.
#include "framing/bytes.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "usb/allowed.hpp"
#include "usb/host.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kHearNs = 10'000'000'000;    ///< for a board that is busy
constexpr std::int64_t kHearStopNs = 3'000'000'000; ///< the same, for a host about to end
constexpr std::int64_t kAskAgainNs = 20'000'000;
constexpr unsigned kControlMs = 1000;
constexpr suseconds_t kSliceUs = 50'000; ///< between two checks for cancelling
constexpr std::size_t kTextPiece = 1024, kLongestText = 65536;
constexpr std::size_t kLongestAnswer = 4096; ///< usbfs carries no more in one request

// Returns what `ask` returns, and repeats it if the board did not answer in time: it may be busy
// with its sink or its radio.
template <typename Ask>
int until_heard(Ask ask, std::int64_t patience_ns = kHearNs)
{
    const std::int64_t deadline = sys::after(patience_ns);
    int got;
    do
        got = ask();
    while (got == LIBUSB_ERROR_TIMEOUT && sys::monotonic_ns() < deadline);
    return got;
}

/// Also repeats it if the board answers STALL because it is still busy.
template <typename Ask>
int until_done(Ask ask, int cancel)
{
    const std::int64_t deadline = sys::after(kHearNs);
    for (;;) {
        const int got = ask();
        if ((got != LIBUSB_ERROR_PIPE && got != LIBUSB_ERROR_TIMEOUT) ||
            sys::monotonic_ns() >= deadline)
            return got;
        if (sys::wait_for(cancel, POLLIN, sys::after(kAskAgainNs)))
            return LIBUSB_ERROR_INTERRUPTED;
    }
}

int code_of(libusb_transfer_status status)
{
    switch (status) {
    case LIBUSB_TRANSFER_TIMED_OUT:
        return LIBUSB_ERROR_TIMEOUT;
    case LIBUSB_TRANSFER_STALL:
        return LIBUSB_ERROR_PIPE;
    case LIBUSB_TRANSFER_NO_DEVICE:
        return LIBUSB_ERROR_NO_DEVICE;
    case LIBUSB_TRANSFER_OVERFLOW:
        return LIBUSB_ERROR_OVERFLOW;
    default:
        return LIBUSB_ERROR_IO;
    }
}

} // namespace

// Like libusb_control_transfer(), but can be cancelled.
int Board::control(unsigned char type, unsigned char request, unsigned value, unsigned char* data,
                   unsigned length, int cancel)
{
    std::array<unsigned char, LIBUSB_CONTROL_SETUP_SIZE + kLongestAnswer> bytes;
    libusb_fill_control_setup(
        bytes.data(),
        static_cast<std::uint8_t>(type | LIBUSB_REQUEST_TYPE_VENDOR | LIBUSB_RECIPIENT_INTERFACE),
        request, static_cast<std::uint16_t>(value), interface_, static_cast<std::uint16_t>(length));
    unsigned char* const payload = bytes.data() + LIBUSB_CONTROL_SETUP_SIZE;
    if (type == LIBUSB_ENDPOINT_OUT)
        std::copy_n(data, length, payload);
    const std::unique_ptr<libusb_transfer, void (*)(libusb_transfer*)> transfer{
        libusb_alloc_transfer(0), &libusb_free_transfer};
    if (!transfer)
        return LIBUSB_ERROR_NO_MEM;
    int done = 0;
    libusb_fill_control_transfer(
        transfer.get(), handle_.get(), bytes.data(),
        [](libusb_transfer* t) { *static_cast<int*>(t->user_data) = 1; }, &done, kControlMs);
    if (const int code = libusb_submit_transfer(transfer.get()); code != 0)
        return code;
    bool failed = false, cancelled = false;
    while (done == 0) {
        timeval slice{.tv_sec = 0, .tv_usec = kSliceUs};
        const int code = libusb_handle_events_timeout_completed(context_.get(), &slice, &done);
        if (done != 0 || failed || cancelled)
            continue;
        pollfd stop{cancel, POLLIN, 0};
        failed = code != 0 && code != LIBUSB_ERROR_INTERRUPTED;
        cancelled = !failed && ::poll(&stop, 1, 0) > 0;
        if (failed || cancelled)
            (void)libusb_cancel_transfer(transfer.get());
    }
    if (cancelled && transfer->status == LIBUSB_TRANSFER_CANCELLED)
        return LIBUSB_ERROR_INTERRUPTED;
    if (transfer->status != LIBUSB_TRANSFER_COMPLETED)
        return code_of(transfer->status);
    if (type == LIBUSB_ENDPOINT_IN)
        std::copy_n(payload, transfer->actual_length, data);
    return transfer->actual_length;
}

// Empty if the board answers STALL or is too busy.
std::string Board::get_text(unsigned char request, int cancel)
{
    std::string text;
    std::array<unsigned char, kTextPiece> piece;
    while (text.size() < kLongestText - kTextPiece) {
        const int got = control(LIBUSB_ENDPOINT_IN, request, static_cast<unsigned>(text.size()),
                                piece.data(), kTextPiece, cancel);
        if (got == LIBUSB_ERROR_PIPE || got == LIBUSB_ERROR_TIMEOUT)
            return "";
        if (got < 0)
            fail_usb(got, "ask", name_);
        text.append(piece.begin(), piece.begin() + got);
        if (static_cast<std::size_t>(got) < piece.size())
            return text;
    }
    throw Error(Fault::device, EPROTO, "ask", name_, "its answer has no end");
}

framing::PeerInfo Board::info(std::int64_t patience_ns, int cancel)
{
    const std::int64_t deadline = sys::after(patience_ns);
    for (;;) {
        const std::string text = get_text(static_cast<unsigned char>(Request::get_info), cancel);
        if (!text.empty())
            return framing::parse_info(text, "GET_INFO's answer");
        if (sys::monotonic_ns() >= deadline)
            fail_usb(LIBUSB_ERROR_PIPE, "ask", name_);
        if (sys::wait_for(cancel, POLLIN, sys::after(50'000'000)))
            fail_usb(LIBUSB_ERROR_INTERRUPTED, "ask", name_);
    }
}

std::string Board::set_attribute(std::size_t number, const std::string& name,
                                 const std::string& value, int cancel)
{
    const std::string what = name + "=" + value + " of " + name_;
    std::string text = value;
    if (text.empty() || text.size() > kLongestValue)
        fail_usage(what + ": 1 to " + std::to_string(kLongestValue) +
                   " characters go over the cable");
    const auto set = [&] {
        return control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::set_attr),
                       static_cast<unsigned>(number), reinterpret_cast<unsigned char*>(text.data()),
                       static_cast<unsigned>(text.size()), cancel);
    };
    const int sent = until_done(set, cancel);
    if (sent < 0)
        fail_usb(sent, "set", what);
    std::array<unsigned char, kLongestAnswer> answer;
    const auto ask = [&] {
        return control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::get_attr),
                       static_cast<unsigned>(number), answer.data(), kLongestAnswer, cancel);
    };
    const int got = until_done(ask, cancel);
    if (got < 0)
        fail_usb(got, "set", what);
    return value_of({answer.begin(), answer.begin() + got}, what);
}

Started Board::start(unsigned value, int cancel)
{
    std::array<unsigned char, kStartBytes> reply;
    std::int64_t before = 0, after = 0; // of the request that was answered
    const int got = until_heard([&] {
        before = sys::monotonic_ns();
        const int bytes = control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::start),
                                  value, reply.data(), kStartBytes, cancel);
        after = sys::monotonic_ns();
        return bytes;
    });
    if (got == LIBUSB_ERROR_INTERRUPTED) // it may have received START anyway
        (void)say_stop(value == kStartAgain ? static_cast<unsigned>(Direction::to_board) : value);
    if (got < 0)
        fail_usb(got, "start the stream of", name_);
    if (static_cast<std::size_t>(got) != kStartBytes)
        throw Error(Fault::device, EPROTO, "start the stream of", name_, "a short answer");
    const auto* bytes = reinterpret_cast<const std::byte*>(reply.data());
    const auto board_ns = static_cast<std::int64_t>(framing::get_number(bytes + 4, 8));
    if (board_ns < 0 || board_ns >= kClockEndNs)
        throw Error(Fault::device, EPROTO, "start the stream of", name_,
                    "its clock is at " + std::to_string(board_ns) + " ns");
    return {static_cast<std::uint32_t>(framing::get_number(bytes, 4)),
            before + (after - before) / 2 - board_ns,
            static_cast<std::uint64_t>((after - before) / 2)};
}

int Board::say_stop(unsigned value) noexcept
{
    return control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::stop), value, nullptr,
                   0);
}

// A board that has not received it sends to no one.
void Board::stop(Direction direction) noexcept
{
    (void)until_heard([&] { return say_stop(static_cast<unsigned>(direction)); }, kHearStopNs);
}

bool Board::has_ended() noexcept
{
    const int code = say_stop(kStopEnded);
    return code != LIBUSB_ERROR_PIPE && code != LIBUSB_ERROR_TIMEOUT;
}

} // namespace iio_stream::usb
