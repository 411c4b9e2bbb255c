// SPDX-License-Identifier: MIT
// What the host asks the board, request by request: docs/usb-protocol.md.
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "usb/allowed.hpp"
#include "usb/bytes.hpp"
#include "usb/host.hpp"

#include <array>
#include <cerrno>
#include <poll.h>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kHearNs = 10'000'000'000; ///< for a board that is busy
constexpr std::size_t kTextPiece = 1024, kLongestText = 65536;
constexpr std::size_t kLongestAnswer = 4096; ///< usbfs carries no more in one request

// What `ask` gives, once more where the board did not hear it in time: it may be busy with its sink,
// or with its radio.
template <typename Ask>
int until_heard(Ask ask)
{
    const std::int64_t deadline = sys::after(kHearNs);
    int got;
    do
        got = ask();
    while (got == LIBUSB_ERROR_TIMEOUT && sys::monotonic_ns() < deadline);
    return got;
}

} // namespace

// Empty where the board answers STALL, or is too busy.
std::string Board::get_text(unsigned char request)
{
    std::string text;
    std::array<unsigned char, kTextPiece> piece;
    while (text.size() < kLongestText - kTextPiece) {
        const int got = control(LIBUSB_ENDPOINT_IN, request, static_cast<unsigned>(text.size()),
                                piece.data(), kTextPiece);
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

BoardInfo Board::info(std::int64_t patience_ns)
{
    const std::int64_t deadline = sys::after(patience_ns);
    for (;;) {
        const std::string text = get_text(static_cast<unsigned char>(Request::get_info));
        if (!text.empty())
            return parse_info(text);
        if (sys::monotonic_ns() >= deadline)
            fail_usb(LIBUSB_ERROR_PIPE, "ask", name_);
        (void)::poll(nullptr, 0, 50);
    }
}

std::string Board::set_attribute(std::size_t number, const std::string& name,
                                 const std::string& value)
{
    const std::string what = name + "=" + value + " of " + name_;
    std::string text = value;
    if (text.empty() || text.size() > kLongestValue)
        fail_usage(what + ": 1 to " + std::to_string(kLongestValue) + " characters go over the cable");
    const int sent = control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::set_attr),
                             static_cast<unsigned>(number),
                             reinterpret_cast<unsigned char*>(text.data()),
                             static_cast<unsigned>(text.size()));
    if (sent < 0)
        fail_usb(sent, "set", what);
    std::array<unsigned char, kLongestAnswer> answer;
    const int got = until_heard([&] {
        return control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::get_attr),
                       static_cast<unsigned>(number), answer.data(), kLongestAnswer);
    });
    if (got < 0)
        fail_usb(got, "set", what);
    return value_of({answer.begin(), answer.begin() + got}, what);
}

Started Board::start(unsigned value)
{
    std::array<unsigned char, kStartBytes> reply;
    std::int64_t before = 0, after = 0; // of the request that was answered
    const int got = until_heard([&] {
        before = sys::monotonic_ns();
        const int bytes = control(LIBUSB_ENDPOINT_IN, static_cast<unsigned char>(Request::start),
                                  value, reply.data(), kStartBytes);
        after = sys::monotonic_ns();
        return bytes;
    });
    if (got < 0)
        fail_usb(got, "start the stream of", name_);
    if (static_cast<std::size_t>(got) != kStartBytes)
        throw Error(Fault::device, EPROTO, "start the stream of", name_, "a short answer");
    const auto* bytes = reinterpret_cast<const std::byte*>(reply.data());
    const auto board_ns = static_cast<std::int64_t>(get_number(bytes + 4, 8));
    return {static_cast<std::uint32_t>(get_number(bytes, 4)),
            before + (after - before) / 2 - board_ns,
            static_cast<std::uint64_t>((after - before) / 2)};
}

void Board::stop(Direction direction) noexcept
{
    (void)control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::stop),
                  static_cast<unsigned>(direction), nullptr, 0);
}

bool Board::has_ended() noexcept
{
    const int code = control(LIBUSB_ENDPOINT_OUT, static_cast<unsigned char>(Request::stop),
                             kStopEnded, nullptr, 0);
    return code != LIBUSB_ERROR_PIPE && code != LIBUSB_ERROR_TIMEOUT;
}

} // namespace iio_stream::usb
