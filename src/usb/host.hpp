// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/units.hpp"
#include "sys/fd_group.hpp"
#include "usb/descriptors.hpp"
#include "usb/info.hpp"

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
    bool means(const BoardChoice& board) const noexcept; ///< as Board::itself() tells of it
    BoardChoice waiting(std::int64_t ns) const;          ///< the same, with other patience
    std::string text() const;                            ///< for messages
};

/// A board's CLOCK_MONOTONIC never gets there; with times below, no sum overflows.
inline constexpr std::int64_t kClockEndNs = std::int64_t{1} << 62;

/// The answer to START.
struct Started {
    std::uint32_t stream_id = 0;
    std::int64_t clock_offset_ns = 0; ///< host's CLOCK_MONOTONIC less the board's
    std::uint64_t uncertainty_ns = 0;
};

/// Throws Error for a libusb error code, with the way out where there is one.
[[noreturn]] void fail_usb(int code, const char* operation, const std::string& object);

/// How many blocks of that size are to be under way: as many as asked for, else what half of usbfs'
/// memory holds.
std::size_t most_in_flight(std::size_t wanted, std::size_t wire_bytes);

inline constexpr std::int64_t kAppearNs = 10'000'000'000; ///< for a board that has just appeared

/// What a usb: endpoint asks for; a sink has no transfer_bytes and no changes.
struct UsbSettings {
    BoardChoice choice;
    std::size_t transfers = 0; ///< blocks under way; 0: as many as usbfs holds
    std::size_t transfer_bytes = SIZE_MAX; ///< a block's transfers are no larger
    /// Of the board's attributes, where it allows them; made whenever the board is opened.
    std::vector<std::pair<std::string, std::string>> changes;
    std::int64_t reconnect_ns = 0; ///< how long a board that is gone is waited for
    Check check = Check::none; ///< at least: a board that checks its blocks has the host do so too
};

/// A board as its host sees it: the device with our interface, claimed. What waits for it ends with
/// ECANCELED as soon as `cancel` is readable; -1: nobody cancels.
/// Thread: any. Throws: Error from all that is not noexcept.
class Board {
public:
    explicit Board(const BoardChoice& choice, int cancel = -1);

    const std::string& name() const noexcept { return name_; } ///< "1d6b:0104 serial 0"
    const BoardChoice& itself() const noexcept { return itself_; } ///< means this board, no other
    libusb_device_handle* handle() const noexcept { return handle_.get(); }
    unsigned char samples_in() const noexcept { return samples_in_; }
    unsigned char samples_out() const noexcept { return samples_out_; }
    unsigned char news_in() const noexcept { return news_in_; } ///< 0: it has none
    bool is_gone() const noexcept; ///< for good: where it has come back it is another device

    /// What the board has opened; one that is making itself ready is waited for.
    BoardInfo info(std::int64_t patience_ns, int cancel = -1);
    /// `value`: a Direction, or kStartAgain.
    Started start(unsigned value, int cancel = -1);
    void stop(Direction direction) noexcept;
    /// Whether the board has heard the end of the stream to it, or is gone.
    bool has_ended() noexcept;
    void clear_halt(unsigned char endpoint);
    /// An attribute that the board allows, by its number; what the board made of it.
    std::string set_attribute(std::size_t number, const std::string& name, const std::string& value,
                              int cancel = -1);

    /// Calls back what is complete, waiting at most so long.
    void handle_events(std::int64_t wait_us = 0);
    int fd() const noexcept { return group_->fd(); } ///< readable when there are events

private:
    bool find(const BoardChoice& choice);
    bool is_wanted(libusb_device* device, const BoardChoice& choice);
    std::string get_text(unsigned char request, int cancel);
    int say_stop(unsigned value) noexcept; ///< a Direction, or kStopEnded
    int control(unsigned char type, unsigned char request, unsigned value, unsigned char* data,
                unsigned length, int cancel = -1);

    std::unique_ptr<libusb_context, void (*)(libusb_context*)> context_{nullptr, &libusb_exit};
    std::unique_ptr<libusb_device_handle, void (*)(libusb_device_handle*)> handle_{nullptr,
                                                                                   &libusb_close};
    std::optional<sys::FdGroup> group_;
    std::string name_;
    BoardChoice itself_;
    unsigned char interface_ = 0, samples_in_ = 0, samples_out_ = 0, news_in_ = 0;
};

} // namespace iio_stream::usb
