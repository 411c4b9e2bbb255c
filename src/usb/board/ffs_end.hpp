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

/// `copied` is by write() to the host, by read() from it.
enum class FfsPath { automatic, dmabuf, copied };

/// The options of an ffs: endpoint.
struct FfsSettings {
    std::string mount;
    FfsPath path = FfsPath::automatic;
    std::int64_t wait_ns = 0;           ///< for the host; 0 = until the stream is stopped
    std::vector<std::string> allowed{}; ///< attributes the host may set
    framing::Check check = framing::Check::none;

    static FfsSettings from(Uri& uri, Direction direction);
};

/// What both ends of a function share: their place in it, the choice of the way, and what they wait
/// for. Its functions are called in its turn at the function.
/// Thread: as documented for Sink and Source; FunctionEnd's functions any.
class FfsEnd : public FunctionEnd {
protected:
    FfsEnd(FfsSettings settings, Direction direction);
    ~FfsEnd();

    std::optional<Hop> plan_hop(const MemoryTraits& traits, std::string& why) const;
    bool wants_dmabufs(const MemoryTraits& traits) const noexcept;
    /// Records why this controller takes no DMABUFs, or not those of this memory.
    void refused(int error, const Memory& memory);

    /// Joins the function unless it has joined; events are delivered from here on.
    void join(framing::StreamShape shape, Turn& turn);
    /// For a way that could not be rebuilt: returns if ep0 has events to handle first. Throws if
    /// the controller, which took DMABUFs before, refuses them.
    void check_refused() const;
    /// Waits until the host has configured the function and `open` has built the way. False if the
    /// controller refuses DMABUFs.
    bool await_enable(Turn& turn, int cancel, const std::function<bool()>& open);
    void leave(Turn& turn) noexcept;

    /// Handles the pending events of ep0. Call just before each ioctl of the endpoint: after UNBIND
    /// it would crash the kernel. Releases the turn while it waits.
    void poll_ep0();
    int wake_fd() const noexcept { return wake_event_.fd(); } ///< readable after wake()
    void wake() noexcept final
    {
        woken_ = true;
        wake_event_.set();
    }
    /// Throws if it has waited for the host since `since_ns`, and that is too long.
    void check_patience(std::int64_t since_ns, const char* lacking) const;
    /// Also waits for `fence`; -1: none.
    Wait wait_for_fence(int fence);
    /// Call before a fence is closed: its fd number may be reused.
    void unwatch() noexcept;
    std::string endpoint_path() const;
    const framing::StreamShape& shape() const override { return shape_; }

    FfsSettings settings_;
    framing::StreamShape shape_; ///< what the host is sent
    Direction direction_;
    std::shared_ptr<Function> function_;
    std::string refusal_; ///< why the last attempt to attach was refused; empty = it was not
    bool fresh_ = false;  ///< the blocks have never been attached
    std::optional<sys::FdGroup> group_;
    bool joined_ = false;

private:
    std::string why_no_dmabufs(const Memory& memory) const;

    std::string dmabuf_refusal_;     ///< why this controller takes none; empty = it may
    detail::MemoryRefusals refused_; ///< memories whose DMABUFs it does not take
    sys::Event wake_event_;
    bool woken_ = false;
    int watched_ = -1; ///< the fence in the group
};

} // namespace iio_stream::usb
