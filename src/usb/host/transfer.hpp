// SPDX-License-Identifier: MIT
#pragma once

#include "usb/host/board_share.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

namespace iio_stream::usb {

/// One bulk transfer of libusb.
struct Transfer {
    Transfer() : raw(libusb_alloc_transfer(0), &libusb_free_transfer) {}

    std::unique_ptr<libusb_transfer, void (*)(libusb_transfer*)> raw;
    /// Set by the thread that handles its event.
    std::atomic<bool> flying{false}, done{false};
    /// The event flag and the thread of the share that submitted it.
    std::shared_ptr<BoardShare::EventFlag> event_flag;
    std::thread::id thread;
};

/// `no_memory`: usbfs has no memory for the transfer. `gone`: the board is gone.
enum class Submitted { yes, no_memory, gone };

/// Hands a transfer to the kernel; `operation` is for error messages.
Submitted submit(BoardShare& board, Transfer& transfer, unsigned char endpoint, unsigned char* data,
                 std::size_t bytes, const char* operation);

/// Cancels the transfers in flight among all that `each` passes to its argument, and waits until
/// they have ended, for two seconds at most.
template <typename Each>
void take_back(BoardShare& board, Each&& each) noexcept
{
    constexpr std::int64_t kCancelNs = 2'000'000'000;
    each([](Transfer& t) {
        if (t.flying)
            (void)libusb_cancel_transfer(t.raw.get());
    });
    const std::int64_t deadline = sys::after(kCancelNs);
    for (;;) {
        bool flying = false;
        each([&](Transfer& t) { flying = flying || t.flying; });
        if (!flying || sys::monotonic_ns() >= deadline)
            break;
        board.wait_for_events();
    }
    each([](Transfer& t) { t.done = false; });
}

} // namespace iio_stream::usb
