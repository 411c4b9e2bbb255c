// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/bounce.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "usb/board/function.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// `copied`: blocks are copied, by write() to the host or by read() from the host.
enum class FfsPath { automatic, dmabuf, copied };

/// The options of an ffs: endpoint.
struct FfsSettings {
    std::string mount;
    FfsPath path = FfsPath::automatic;
    std::int64_t wait_ns = 0; ///< how long to wait for the host; 0: until the stream is stopped
    std::vector<std::string> allowed{}; ///< attributes the host may set
    framing::Check check = framing::Check::none;

    static FfsSettings from(Uri& uri, Direction direction);
};

/// The common part of a function's two ends: joining and leaving the function, the choice between
/// DMABUFs and copies, and the events that the ends wait for. Call its methods during a turn.
/// Thread: as documented for Sink and Source; any for the methods of FunctionEnd.
class FfsEnd : public FunctionEnd {
protected:
    FfsEnd(FfsSettings settings, Direction direction);
    ~FfsEnd();

    std::optional<Hop> plan_hop(const MemoryTraits& traits, std::string& why) const;
    bool wants_dmabufs(const MemoryTraits& traits) const noexcept;
    /// Records why this controller accepts no DMABUFs at all, or none of this memory.
    void refused(int error, const Memory& memory);

    /// Joins the function unless the end has joined already. Events are delivered from then on.
    void join(framing::StreamShape shape, Turn& turn);
    /// Call when the endpoint could not be opened again. Returns if events of ep0 have to be
    /// handled first. Throws Error if the controller, which took DMABUFs before, now refuses them.
    void check_refused() const;
    /// Waits until the host has configured the function and `open`, which opens the endpoint, has
    /// returned true. Returns false if the controller refuses DMABUFs. Throws Error if `cancel`
    /// becomes readable or wait= has expired.
    bool await_enable(Turn& turn, int cancel, const std::function<bool()>& open);
    void leave(Turn& turn) noexcept;

    /// Handles the pending events of ep0. Call just before each ioctl of the endpoint, because an
    /// ioctl after UNBIND crashes the kernel. Releases the turn while it waits.
    void poll_ep0();
    int wake_fd() const noexcept { return wake_event_.fd(); } ///< readable after wake()
    void wake() noexcept final
    {
        woken_ = true;
        wake_event_.set();
    }
    /// Throws ETIMEDOUT, with `lacking` as the reason, if the wait for the host, which began at
    /// `since_ns`, has lasted longer than wait= allows.
    void check_patience(std::int64_t since_ns, const char* lacking) const;
    /// Returns what to wait for, including `fence` unless it is -1.
    Wait wait_for_fence(int fence);
    /// Call before a fence is closed, because its fd number may be reused.
    void unwatch() noexcept;
    std::string endpoint_path() const;
    const framing::StreamShape& shape() const override { return shape_; }

    FfsSettings settings_;
    framing::StreamShape shape_; ///< description of the stream, for GET_INFO
    Direction direction_;
    std::shared_ptr<Function> function_;
    std::string refusal_; ///< why the last attempt to attach was refused; empty = it was not
    bool fresh_ = false;  ///< the blocks have never been attached
    std::optional<sys::FdGroup> group_;
    bool joined_ = false;

private:
    std::string why_no_dmabufs(const Memory& memory) const;

    std::string dmabuf_refusal_; ///< why the controller accepts no DMABUFs; empty: no refusal yet
    detail::MemoryRefusals refused_; ///< memories whose DMABUFs the controller does not accept
    sys::Event wake_event_;
    bool woken_ = false;
    int watched_ = -1; ///< the fence in group_; -1: none
};

} // namespace iio_stream::usb
