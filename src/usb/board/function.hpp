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

/// The function's view of one direction's stream. The function's thread calls these methods, in a
/// turn.
class FunctionEnd {
public:
    virtual void on_enable() = 0;
    virtual void on_disable() = 0; ///< no ioctl of the endpoint is allowed after it
    virtual void on_unbind() = 0;  ///< after on_disable(); only closing is allowed
    /// Called before the host gets its answer. `again` (for a stream to the board only): the stream
    /// continues.
    virtual void on_start(std::uint32_t stream_id, bool again) = 0;
    virtual void on_stop() = 0;
    virtual bool has_ended() { return false; } ///< whether the end of the host's stream has arrived
    virtual void wake() noexcept = 0;          ///< wakes the end's thread after a change
    virtual const framing::StreamShape& shape() const = 0;
    /// Implement GET_ATTR and SET_ATTR for the attributes in shape(). Neither waits: if there is no
    /// answer yet, or if can_set_attribute() is false, the host repeats its request.
    virtual std::optional<std::string> attribute(std::size_t) { return ""; }
    virtual bool can_set_attribute() const { return false; }
    virtual void set_attribute(std::size_t, const std::string&) {}
    virtual std::string stats_json() const = 0; ///< a JSON object for GET_STATS

protected:
    ~FunctionEnd() = default;
};

/// The exclusive use of a function, by an end's thread or by the function's own thread.
using Turn = std::unique_lock<std::mutex>;

/// The board's end of the control endpoint, FunctionFS' ep0. A thread of its own reads the events
/// and answers the host's requests, because a host can take a long time to complete each of them.
/// Owns: ep0 and the thread. While ep0 is open, the function exists and its gadget is bound.
/// Thread: turn(), expect() and forget() any; the others on the thread that has the turn. The two
/// directions of a mount share the object.
class Function {
public:
    /// Returns this process's only Function of that mount.
    static std::shared_ptr<Function> at(const std::string& mount);
    explicit Function(std::string mount) : mount_(std::move(mount)), path_(mount_ + "/ep0") {}
    /// For tests: ep0 is already open, and the caller calls listen().
    Function(std::string mount, sys::UniqueFd ep0) : Function(std::move(mount))
    {
        ep0_ = std::move(ep0);
    }

    Turn turn() { return Turn(mutex_); }

    /// Announces an end that is going to join. Until it joins, GET_INFO is not answered. Throws
    /// Error if that direction already has an end.
    void expect(Direction direction);
    void forget(Direction direction) noexcept;
    /// The first end that joins writes the descriptors and binds the gadget; the last one that
    /// leaves closes ep0.
    void join(Direction direction, FunctionEnd& end, Turn& turn);
    void leave(Direction direction, Turn& turn) noexcept;

    /// Call right before each ioctl of an endpoint. Returns when all events of ep0 have been
    /// reported to the ends. Releases the turn meanwhile. Throws the thread's error, or ETIMEDOUT.
    void catch_up();
    /// Returns a descriptor that is readable while ep0 has events that have not been reported yet.
    int fd() const noexcept { return happened_.fd(); }
    bool enabled() const noexcept { return enabled_; } ///< the host has configured it
    const std::string& mount() const noexcept { return mount_; }

    /// Reports events to the ends and answers requests. Takes turns, and can wait for the host in
    /// between. Call it on the function's thread only.
    void listen();

private:
    struct EndSlot {
        bool taken = false;   ///< an end has joined, or will join
        bool awaited = false; ///< taken, but the end has not joined yet
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
    std::mutex mutex_; ///< held during a turn
    std::condition_variable changed_;
    sys::Event happened_; ///< set by the kernel with each event of ep0
    sys::Event over_;     ///< set when the thread has to end
    sys::UniqueFd ep0_;   ///< opened and closed in a turn, while the thread does not run
    bool closing_ = false;
    bool enabled_ = false;
    std::array<EndSlot, 2> slots_;
    std::exception_ptr failure_;
    std::uint32_t stream_id_ = 0; ///< used by the function's thread, like info_
    std::string info_;            ///< text of GET_INFO when the host began to read it
    std::thread thread_;
};

} // namespace iio_stream::usb
