// SPDX-License-Identifier: MIT
#pragma once

#include "framing/info.hpp"
#include "iio_stream/units.hpp"
#include "sys/fd_group.hpp"
#include "usb/descriptors.hpp"

#include <cstdint>
#include <libusb.h>
#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// The board that a usb: endpoint refers to.
struct BoardChoice {
    std::optional<UsbId> id;  ///< empty = any
    std::string serial;       ///< empty = any
    std::int64_t wait_ns = 0; ///< how long to wait for it to appear
    /// Returns whether this choice includes that board, as returned by BoardConnection::itself().
    bool means(const BoardChoice& board) const noexcept;
    BoardChoice waiting(std::int64_t ns) const; ///< the same choice, with another waiting time
    std::string text() const;                   ///< for messages
};

/// The answer to START.
struct Started {
    std::uint32_t stream_id = 0;
    std::int64_t clock_offset_ns = 0; ///< the host's CLOCK_MONOTONIC minus the board's
    std::uint64_t uncertainty_ns = 0;
};

/// Throws Error for a libusb error code, with a hint if there is one.
[[noreturn]] void fail_usb(int code, const char* operation, const std::string& object);

/// Returns how many blocks of `wire_bytes` may be in flight: `wanted` or, if that is 0, as many as
/// fit into half of usbfs' memory, at least one.
std::size_t most_in_flight(std::size_t wanted, std::size_t wire_bytes);

inline constexpr const char* kBoardEnd =
    "on the board: ffs:MOUNT"; ///< hint: where the options of the other end are given
/// How long a board that has just appeared can take to get ready.
inline constexpr std::int64_t kAppearNs = 10'000'000'000;

/// The options of a usb: endpoint; a sink has no transfer_bytes and no changes.
struct UsbSettings {
    BoardChoice choice;
    std::size_t transfers = 0;             ///< blocks in flight; 0: see most_in_flight()
    std::size_t transfer_bytes = SIZE_MAX; ///< largest transfer of a block
    /// Names and values of the board's attributes to set, if the board allows them. They are set
    /// whenever the board is opened.
    std::vector<std::pair<std::string, std::string>> changes;
    std::int64_t reconnect_ns = 0; ///< how long to wait for a board that is gone
    /// The minimum check that is required. If the board checks its blocks, the host checks them,
    /// too.
    framing::Check check = framing::Check::none;
};

/// The host's connection to a board: the claimed USB device with our interface. Waits end with
/// ECANCELED as soon as `cancel` is readable; -1: no cancellation. Thread: any. Throws: Error from
/// everything that is not noexcept.
class BoardConnection {
public:
    explicit BoardConnection(const BoardChoice& choice, int cancel = -1);

    const std::string& name() const noexcept { return name_; }     ///< "1d6b:0104 serial 0"
    const BoardChoice& itself() const noexcept { return itself_; } ///< refers to this board only
    libusb_device_handle* handle() const noexcept { return handle_.get(); }
    unsigned char samples_in() const noexcept { return samples_in_; }
    unsigned char samples_out() const noexcept { return samples_out_; }
    unsigned char events_in() const noexcept { return events_in_; } ///< 0: it has none
    /// Once the result is true, it stays true, because a board that is plugged in again is another
    /// device.
    bool is_unplugged() const noexcept;

    /// Returns the streams that the board has opened. Waits for `patience_ns` at most while the
    /// board is getting ready.
    framing::PeerInfo info(std::int64_t patience_ns, int cancel = -1);
    /// `value`: a Direction, or kStartAgain.
    Started start(unsigned value, int cancel = -1);
    void stop(Direction direction) noexcept;
    /// Returns whether the board has received the end of the stream to it, or is gone.
    bool has_ended() noexcept;
    void clear_halt(unsigned char endpoint);
    /// Sets an attribute the board allows, by its number; returns the resulting value.
    std::string set_attribute(std::size_t number, const std::string& name, const std::string& value,
                              int cancel = -1);

    /// Calls the callbacks of completed transfers; waits up to `wait_us`.
    void handle_events(std::int64_t wait_us = 0);
    int fd() const noexcept { return group_->fd(); } ///< readable when there are events

private:
    bool find(const BoardChoice& choice);
    bool is_wanted(libusb_device* device, const BoardChoice& choice);
    std::string get_text(unsigned char request, int cancel);
    int send_stop(unsigned value) noexcept; ///< a Direction, or kStopEnded
    int control(unsigned char type, unsigned char request, unsigned value, unsigned char* data,
                unsigned length, int cancel = -1);

    std::unique_ptr<libusb_context, void (*)(libusb_context*)> context_{nullptr, &libusb_exit};
    std::unique_ptr<libusb_device_handle, void (*)(libusb_device_handle*)> handle_{nullptr,
                                                                                   &libusb_close};
    std::optional<sys::FdGroup> group_;
    std::string name_;
    BoardChoice itself_;
    unsigned char interface_ = 0, samples_in_ = 0, samples_out_ = 0, events_in_ = 0;
};

} // namespace iio_stream::usb
