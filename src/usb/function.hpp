// SPDX-License-Identifier: MIT
#pragma once

#include "sys/functionfs.hpp"
#include "sys/unique_fd.hpp"
#include "usb/descriptors.hpp"
#include "usb/info.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace iio_stream::usb {

/// One direction's stream, as its function sees it. It is told what happens by whichever thread
/// hears it, in its turn.
class FunctionEnd {
public:
    virtual void on_enable() = 0;
    virtual void on_disable() = 0; ///< no ioctl of the endpoint any more
    virtual void on_unbind() = 0;  ///< behind on_disable(); nothing but closing is allowed
    /// Before the host has its answer. Of a stream to the board: `again` where it goes on.
    virtual void on_start(std::uint32_t stream_id, bool again) = 0;
    virtual void on_stop() = 0;
    virtual bool has_ended() { return false; } ///< the host's stream, as the host has said
    virtual const StreamShape& shape() const = 0;
    /// Of the attributes in its shape: GET_ATTR's answer, and SET_ATTR. Neither waits: nothing, and
    /// not being ready, have the host ask again.
    virtual std::optional<std::string> attribute(std::size_t) { return ""; }
    virtual bool can_set_attribute() const { return false; }
    virtual void set_attribute(std::size_t, const std::string&) {}
    virtual std::string stats_json() const = 0; ///< an object, for GET_STATS

protected:
    ~FunctionEnd() = default;
};

/// Whose turn it is at a function. With one direction there is one thread, and nothing is locked.
class Turns {
public:
    void lock()
    {
        if (shared)
            mutex_.lock();
    }
    void unlock()
    {
        if (shared)
            mutex_.unlock();
    }

    bool shared = false; ///< set before the first turn

private:
    std::mutex mutex_;
};

using Turn = std::unique_lock<Turns>;

/// The board's end of the control endpoint: FunctionFS' ep0, its events and the host's requests.
/// Owns: ep0; while it is open the function exists, and its gadget is bound.
/// Thread: expect(), settle() and forget() any, the others whose turn it is. Two directions of a
/// mount share it: an event that one has read must have reached the other before its next ioctl.
class Function {
public:
    /// The one of that mount in this process.
    static std::shared_ptr<Function> at(const std::string& mount);
    /// `ep0`: where it is open already, described and bound.
    explicit Function(std::string mount, sys::UniqueFd ep0 = {})
        : mount_(std::move(mount)), path_(mount_ + "/ep0"), ep0_(std::move(ep0))
    {}

    Turn turn() { return Turn(turns_); }

    /// Announces an end that is going to join: until then the host is not told what the board
    /// does. Throws where that direction has one, or a stream without it is settled.
    void expect(Direction direction);
    /// Before an end's first turn: the directions are those that are expected now.
    void settle();
    void forget(Direction direction) noexcept;
    /// The first to join writes the descriptors and binds the gadget; the last to leave ends it.
    void join(Direction direction, FunctionEnd& end);
    void leave(Direction direction) noexcept;

    /// Reads all events; to be called right before each ioctl of an endpoint.
    void listen();
    bool is_open() const noexcept { return ep0_.valid(); }
    bool enabled() const noexcept { return enabled_; } ///< the host has configured it
    int fd() const noexcept { return ep0_.get(); }
    const std::string& mount() const noexcept { return mount_; }

private:
    struct Seat {
        bool taken = false;   ///< an end has joined, or will join
        bool awaited = false; ///< and has not joined yet
        FunctionEnd* end = nullptr;
    };

    bool any_taken() const noexcept;
    void open();
    void serve(const sys::UsbSetup& setup);
    bool serve_stream(const sys::UsbSetup& setup);
    bool serve_ended(const sys::UsbSetup& setup);
    std::string info() const;
    bool serve_text(const sys::UsbSetup& setup);
    bool serve_attribute(const sys::UsbSetup& setup);
    void reply(const sys::UsbSetup& setup, std::string_view text);
    void reply_start(std::uint32_t stream_id);
    std::string stats() const;
    Seat& seat(Direction direction) { return seats_[static_cast<unsigned>(direction)]; }
    const Seat& seat(Direction direction) const
    {
        return seats_[static_cast<unsigned>(direction)];
    }
    template <typename Call>
    void tell(Call call)
    {
        for (Seat& seat : seats_)
            if (seat.end != nullptr)
                call(*seat.end);
    }

    std::mutex seats_mutex_; ///< of who is expected; taken before a turn
    bool settled_ = false;
    Turns turns_;
    std::string mount_, path_;
    sys::UniqueFd ep0_;
    bool enabled_ = false;
    std::array<Seat, 2> seats_;
    std::uint32_t stream_id_ = 0;
    std::string info_; ///< since the host began to read it
};

} // namespace iio_stream::usb
