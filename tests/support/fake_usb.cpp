// SPDX-License-Identifier: MIT
#include "support/fake_usb.hpp"

#include "framing/bytes.hpp"
#include "sys/event.hpp"
#include "usb/descriptors.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <libusb.h>
#include <mutex>
#include <poll.h>
#include <thread>

struct libusb_device {};

namespace {

using namespace iio_stream;

constexpr std::size_t kPacket = 1024;
constexpr int kAtOnce = 8; ///< the number of transfers that one call completes
constexpr std::size_t kStall = kPacket + 1, kLeave = kPacket + 2; ///< longer than any packet

libusb_device the_device;

struct State {
    std::string info;
    std::uint32_t stream_id;
    std::function<std::optional<test::UsbSend>()> next;
    std::deque<std::vector<std::byte>> packets{}; ///< sent by the board, not yet taken by the host
    std::deque<libusb_transfer*> flying{}, landed{};
    bool gone = false;
    int missed_stops = 0, stops = 0, starts = 0;
    bool hangs_starts = false;
    std::deque<libusb_transfer*> hung{};
    sys::Event always{}; ///< readable, so that the host keeps polling
};

std::mutex mutex; ///< guards the variables below
State* board = nullptr;

void cut(const test::UsbSend& send)
{
    if (send.stall || send.leave)
        return board->packets.push_back(std::vector<std::byte>(send.leave ? kLeave : kStall));
    for (std::size_t at = 0; at < send.bytes.size(); at += kPacket) {
        const std::size_t end = std::min(at + kPacket, send.bytes.size());
        board->packets.emplace_back(send.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                    send.bytes.begin() + static_cast<std::ptrdiff_t>(end));
    }
    if (send.zero_packet)
        board->packets.emplace_back();
}

/// Acts like a host controller: a transfer ends when it is full, with a short packet, or with an
/// error.
bool land(libusb_transfer& transfer)
{
    if (board->gone) {
        transfer.status = LIBUSB_TRANSFER_NO_DEVICE;
        return true;
    }
    for (;;) {
        if (board->packets.empty())
            if (const auto send = board->next())
                cut(*send);
        if (board->packets.empty())
            return false;
        const auto packet = std::move(board->packets.front());
        board->packets.pop_front();
        const int bytes = static_cast<int>(packet.size());
        transfer.status = LIBUSB_TRANSFER_COMPLETED;
        if (packet.size() == kLeave) {
            board->gone = true;
            transfer.status = LIBUSB_TRANSFER_NO_DEVICE;
        } else if (packet.size() == kStall)
            transfer.status = LIBUSB_TRANSFER_STALL;
        else if (bytes > transfer.length - transfer.actual_length)
            transfer.status = LIBUSB_TRANSFER_OVERFLOW;
        if (transfer.status != LIBUSB_TRANSFER_COMPLETED)
            return true;
        std::copy(packet.begin(), packet.end(),
                  reinterpret_cast<std::byte*>(transfer.buffer) + transfer.actual_length);
        transfer.actual_length += bytes;
        if (packet.size() < kPacket || transfer.actual_length == transfer.length)
            return true;
    }
}

bool land_first()
{
    if (board->flying.empty() || !land(*board->flying.front()))
        return false;
    board->landed.push_back(board->flying.front());
    board->flying.pop_front();
    return true;
}

// Returns false if the request never completes.
bool answer(libusb_transfer& transfer)
{
    using usb::Request;
    const libusb_control_setup& setup = *libusb_control_transfer_get_setup(&transfer);
    unsigned char* const data = libusb_control_transfer_get_data(&transfer);
    const std::size_t value = setup.wValue, room = setup.wLength;
    transfer.status = LIBUSB_TRANSFER_COMPLETED;
    switch (static_cast<Request>(setup.bRequest)) {
    case Request::get_info:
        transfer.actual_length = static_cast<int>(board->info.copy(
            reinterpret_cast<char*>(data), room, std::min(value, board->info.size())));
        break;
    case Request::start:
        ++board->starts;
        if (board->hangs_starts)
            return false;
        std::memset(data, 0, usb::kStartBytes);
        framing::put_number(reinterpret_cast<std::byte*>(data), board->stream_id, 4);
        transfer.actual_length = usb::kStartBytes;
        break;
    case Request::stop:
        if (board->missed_stops-- > 0)
            transfer.status = LIBUSB_TRANSFER_TIMED_OUT;
        else
            ++board->stops;
        break;
    default:
        transfer.status = LIBUSB_TRANSFER_STALL;
    }
    return true;
}

} // namespace

namespace iio_stream::test {

FakeUsb::FakeUsb(std::string info, std::uint32_t stream_id,
                 std::function<std::optional<UsbSend>()> next)
{
    const std::lock_guard guard(mutex);
    board = new State{std::move(info), stream_id, std::move(next)};
    board->always.set();
}

FakeUsb::~FakeUsb()
{
    const std::lock_guard guard(mutex);
    delete std::exchange(board, nullptr);
}

void FakeUsb::miss_stops(int count)
{
    const std::lock_guard guard(mutex);
    board->missed_stops = count;
}

int FakeUsb::stops() const
{
    const std::lock_guard guard(mutex);
    return board->stops;
}

void FakeUsb::hang_starts()
{
    const std::lock_guard guard(mutex);
    board->hangs_starts = true;
}

int FakeUsb::starts() const
{
    const std::lock_guard guard(mutex);
    return board->starts;
}

} // namespace iio_stream::test

// The functions of libusb that src/usb calls; https://libusb.sourceforge.io/api-1.0/ describes
// them. They are hidden (tests/CMakeLists.txt), because libiio uses the real functions.
extern "C" {

ssize_t libusb_get_device_list(libusb_context*, libusb_device*** list)
{
    const std::lock_guard guard(mutex);
    *list = new libusb_device* [] { &the_device, nullptr };
    return board != nullptr ? 1 : 0;
}

int libusb_kernel_driver_active(libusb_device_handle*, int)
{
    const std::lock_guard guard(mutex);
    return board != nullptr ? 0 : LIBUSB_ERROR_NO_DEVICE;
}

const libusb_pollfd** libusb_get_pollfds(libusb_context*)
{
    const std::lock_guard guard(mutex);
    return new const libusb_pollfd* [] { new libusb_pollfd{board->always.fd(), POLLIN}, nullptr };
}

int libusb_submit_transfer(libusb_transfer* transfer)
{
    const std::lock_guard guard(mutex);
    if (board == nullptr || board->gone)
        return LIBUSB_ERROR_NO_DEVICE;
    transfer->actual_length = 0;
    if (transfer->type == LIBUSB_TRANSFER_TYPE_CONTROL) {
        (answer(*transfer) ? board->landed : board->hung).push_back(transfer);
    } else {
        board->flying.push_back(transfer);
        land_first(); // the kernel does not wait until the program handles events
    }
    return 0;
}

int libusb_cancel_transfer(libusb_transfer* transfer)
{
    const std::lock_guard guard(mutex);
    if (std::erase(board->flying, transfer) + std::erase(board->hung, transfer) == 0)
        return LIBUSB_ERROR_NOT_FOUND;
    transfer->status = LIBUSB_TRANSFER_CANCELLED;
    board->landed.push_back(transfer);
    return 0;
}

int libusb_handle_events_timeout_completed(libusb_context*, timeval*, int*)
{
    std::deque<libusb_transfer*> landed;
    {
        const std::lock_guard guard(mutex);
        for (int i = 0; i < kAtOnce && land_first(); ++i)
            ;
        landed.swap(board->landed);
    }
    if (landed.empty())
        std::this_thread::yield();
    for (libusb_transfer* transfer : landed)
        transfer->callback(transfer);
    return 0;
}

} // extern "C"
