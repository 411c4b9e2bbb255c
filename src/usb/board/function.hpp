// SPDX-License-Identifier: MIT
#pragma once

#include "framing/info.hpp"
#include "sys/device/functionfs.hpp"
#include "sys/event.hpp"
#include "sys/unique_fd.hpp"
#include "usb/descriptors.hpp"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace iio_stream::usb {

/// One direction's stream, as its function sees it. Its functions are called by the function's
/// thread, in a turn.
class FunctionEnd {
public:
    virtual void on_enable() = 0;
    virtual void on_disable() = 0; ///< no ioctl of the endpoint any more
    virtual void on_unbind() = 0;  ///< after on_disable(); only closing is allowed
    /// Before the host has its answer. For a stream to the board: `again` if it continues.
    virtual void on_start(std::uint32_t stream_id, bool again) = 0;
    virtual void on_stop() = 0;
    virtual bool has_ended() { return false; } ///< the host's stream, as the host has said
    virtual void wake() noexcept = 0;          ///< its own thread: something may have changed
    virtual const framing::StreamShape& shape() const = 0;
    /// Of the attributes in its shape: GET_ATTR's answer, and SET_ATTR. Neither waits: nothing, and
    /// not being ready, have the host ask again.
    virtual std::optional<std::string> attribute(std::size_t) { return ""; }
    virtual bool can_set_attribute() const { return false; }
    virtual void set_attribute(std::size_t, const std::string&) {}
    virtual std::string stats_json() const = 0; ///< an object, for GET_STATS

protected:
    ~FunctionEnd() = default;
};

/// Whose turn it is at a function: an end's thread, or the function's own.
using Turn = std::unique_lock<std::mutex>;

/// The board's end of the control endpoint: FunctionFS' ep0, its events and the host's requests,
/// which a thread of its own answers, since a host may take its time over each.
/// Owns: ep0 and the thread; while ep0 is open the function exists, and its gadget is bound.
/// Thread: turn(), expect() and forget() any; the others whose turn it is. Two directions of a
/// mount share it.
class Function {
public:
    /// The one of that mount in this process.
    static std::shared_ptr<Function> at(const std::string& mount);
    explicit Function(std::string mount) : mount_(std::move(mount)), path_(mount_ + "/ep0") {}
    /// Of a test: ep0 is there, and listen() is the caller's to call.
    Function(std::string mount, sys::UniqueFd ep0) : Function(std::move(mount))
    {
        ep0_ = std::move(ep0);
    }

    Turn turn() { return Turn(mutex_); }

    /// Announces an end that is going to join: until then the host does not learn what the board
    /// does. Throws if that direction has one.
    void expect(Direction direction);
    void forget(Direction direction) noexcept;
    /// The first to join writes the descriptors and binds the gadget; the last to leave ends it.
    void join(Direction direction, FunctionEnd& end, Turn& turn);
    void leave(Direction direction, Turn& turn) noexcept;

    /// Right before each ioctl of an endpoint: returns when everything that has happened at ep0 has
    /// been reported to the ends. Releases the turn meanwhile. Throws the thread's error.
    void catch_up();
    /// Readable while something has happened that has not been reported yet.
    int fd() const noexcept { return happened_.fd(); }
    bool enabled() const noexcept { return enabled_; } ///< the host has configured it
    const std::string& mount() const noexcept { return mount_; }

    /// Reports events to the ends and answers requests. Takes turns, and may wait for the host
    /// in between; the function's thread only.
    void listen();

private:
    struct EndSlot {
        bool taken = false;   ///< an end has joined, or will join
        bool awaited = false; ///< and has not joined yet
        FunctionEnd* end = nullptr;
    };

    bool is_open() const noexcept { return ep0_.valid(); }
    void open();
    void wake_all() noexcept;
    void run() noexcept;
    std::optional<sys::UsbSetup> read_events();
    void serve(const sys::UsbSetup& setup);
    bool serve_stream(const sys::UsbSetup& setup);
    bool serve_ended(const sys::UsbSetup& setup);
    std::string info() const;
    std::optional<std::string> text(const sys::UsbSetup& setup);
    bool serve_text(const sys::UsbSetup& setup);
    FunctionEnd* end_with(std::size_t attribute) const noexcept;
    bool serve_get_attribute(const sys::UsbSetup& setup);
    bool serve_set_attribute(const sys::UsbSetup& setup);
    void reply(const sys::UsbSetup& setup, std::string_view text);
    void reply_start(std::uint32_t stream_id);
    std::string stats() const;
    EndSlot& slot(Direction direction) { return slots_[static_cast<unsigned>(direction)]; }
    const EndSlot& slot(Direction direction) const
    {
        return slots_[static_cast<unsigned>(direction)];
    }
    template <typename Call>
    void notify(Call call)
    {
        for (EndSlot& slot : slots_)
            if (slot.end != nullptr)
                call(*slot.end);
    }

    std::string mount_, path_;
    std::mutex mutex_; ///< of a turn
    std::condition_variable changed_;
    sys::Event happened_; ///< the kernel's, with each event of ep0
    sys::Event over_;     ///< the thread is to end
    sys::UniqueFd ep0_;   ///< opened and closed in a turn, while the thread is not there
    bool closing_ = false;
    bool enabled_ = false;
    std::array<EndSlot, 2> slots_;
    std::exception_ptr failure_;
    std::uint32_t stream_id_ = 0; ///< the thread's, as all that follows
    std::string info_;            ///< since the host began to read it
    std::thread thread_;
};

} // namespace iio_stream::usb
