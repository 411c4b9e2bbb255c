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

namespace iio_stream::usb {

/// One direction's stream, as its function sees it. It is told what happens by whichever thread
/// hears it, under the function's lock.
class FunctionEnd {
public:
    virtual void on_enable() = 0;
    virtual void on_disable() = 0; ///< no ioctl of the endpoint any more
    virtual void on_unbind() = 0;  ///< behind on_disable(); nothing but closing is allowed
    /// Before the host has its answer. Of a stream to the board: `again` where it goes on.
    virtual void on_start(std::uint32_t stream_id, bool again) = 0;
    virtual void on_stop() = 0;
    virtual bool has_ended() { return false; } ///< the host's stream, as the host has said
    virtual std::string stats_json() const = 0; ///< an object, for GET_STATS

protected:
    ~FunctionEnd() = default;
};

/// The board's end of the control endpoint: FunctionFS' ep0, its events and the host's requests.
/// Owns: ep0; while it is open the function exists, and its gadget is bound.
/// Thread: any that has the lock. The two directions of a mount share it: where there is one
/// direction only, nobody else ever takes the lock.
class Function {
public:
    /// The one of that mount in this process.
    static std::shared_ptr<Function> at(const std::string& mount);
    explicit Function(std::string mount) : mount_(std::move(mount)), path_(mount_ + "/ep0") {}

    std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

    /// Announces an end that is going to join: until then the host is not told what the board
    /// does. Throws where that direction has one.
    void expect(Direction direction);
    void forget(Direction direction) noexcept;
    /// The first to join writes the descriptors and binds the gadget; the last to leave ends it.
    void join(Direction direction, FunctionEnd& end, StreamShape shape);
    void leave(Direction direction) noexcept;

    /// Reads all events; to be called right before each ioctl of an endpoint.
    void listen();
    bool is_open() const noexcept { return ep0_.valid(); }
    bool enabled() const noexcept { return enabled_; } ///< the host has configured it
    int fd() const noexcept { return ep0_.get(); }
    const std::string& mount() const noexcept { return mount_; }

private:
    struct Seat {
        bool taken = false;   ///< somebody is there, or will be
        bool awaited = false; ///< and has not joined yet
        FunctionEnd* end = nullptr;
        StreamShape shape;
    };

    void open();
    void serve(const sys::UsbSetup& setup);
    bool serve_stream(const sys::UsbSetup& setup);
    bool serve_ended(const sys::UsbSetup& setup);
    bool serve_text(const sys::UsbSetup& setup);
    void reply_start(std::uint32_t stream_id);
    std::string stats() const;
    Seat& seat(Direction direction) { return seats_[static_cast<unsigned>(direction)]; }
    template <typename Call>
    void tell(Call call)
    {
        for (Seat& seat : seats_)
            if (seat.end != nullptr)
                call(*seat.end);
    }

    std::mutex mutex_;
    std::string mount_, path_;
    sys::UniqueFd ep0_;
    bool enabled_ = false;
    std::array<Seat, 2> seats_;
    std::uint32_t stream_id_ = 0;
};

} // namespace iio_stream::usb
