// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/units.hpp"
#include "sys/fd_group.hpp"

#include <cstdint>
#include <libusb.h>
#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// Which board a usb: endpoint means.
struct BoardChoice {
    std::optional<UsbId> id;  ///< none = any
    std::string serial;       ///< empty = any
    std::int64_t wait_ns = 0; ///< for its appearance
    std::string text() const; ///< for messages
};

/// The answer to START.
struct Started {
    std::uint32_t stream_id = 0;
    std::int64_t clock_offset_ns = 0; ///< host's CLOCK_MONOTONIC less the board's
    std::uint64_t uncertainty_ns = 0;
};

/// Throws Error for a libusb error code, with the way out where there is one.
[[noreturn]] void fail_usb(int code, const char* operation, const std::string& object);

/// A board as its host sees it: the device with our interface, claimed.
/// Thread: one at a time. Throws: Error from all that is not noexcept.
class Board {
public:
    explicit Board(const BoardChoice& choice);

    const std::string& name() const noexcept { return name_; } ///< "1d6b:0104 serial 0"
    libusb_device_handle* handle() const noexcept { return handle_.get(); }
    unsigned char samples_in() const noexcept { return samples_in_; }

    std::string get_text(unsigned char request);
    Started start();
    void stop() noexcept;

    /// Calls back what is complete, waiting at most so long.
    void handle_events(std::int64_t wait_us = 0);
    int fd() const noexcept { return group_->fd(); } ///< readable when there are events

private:
    bool find(const BoardChoice& choice);
    bool is_wanted(libusb_device* device, const BoardChoice& choice);
    int control(unsigned char type, unsigned char request, unsigned value, unsigned char* data,
                unsigned length);

    std::unique_ptr<libusb_context, void (*)(libusb_context*)> context_{nullptr, &libusb_exit};
    std::unique_ptr<libusb_device_handle, void (*)(libusb_device_handle*)> handle_{nullptr,
                                                                                   &libusb_close};
    std::optional<sys::FdGroup> group_;
    std::string name_;
    unsigned char interface_ = 0, samples_in_ = 0;
};

} // namespace iio_stream::usb
