// SPDX-License-Identifier: MIT
#pragma once

#include "core/bounce.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "usb/function.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// `copied` is by write() to the host, by read() from it.
enum class FfsPath { automatic, dmabuf, copied };

/// What an ffs: endpoint was asked to be.
struct FfsSettings {
    std::string mount;
    FfsPath path = FfsPath::automatic;
    std::int64_t wait_ns = 0; ///< for the host; 0 = until the stream is stopped
    std::vector<std::string> allowed{}; ///< attributes that the host may set
    Check check = Check::none;

    static FfsSettings from(Uri& uri, Direction direction);
};

/// What the two ends of a function have in common: their place at it, the choice of the way, and
/// what is waited for. Its functions are called in its turn at the function.
/// Thread: as Sink and Source say; FunctionEnd's functions any.
class FfsEnd : public FunctionEnd {
protected:
    FfsEnd(FfsSettings settings, Direction direction);
    ~FfsEnd();

    std::optional<Hop> plan_hop(const MemoryTraits& traits, std::string& why) const;
    bool wants_dmabufs(const MemoryTraits& traits) const noexcept;
    /// Notes why this controller takes no DMABUFs, or not those of this memory.
    void refused(int error, const Memory& memory);

    /// Joins the function, where it has not yet; from here its events come.
    void join(StreamShape shape);
    /// Where the way could not be made again: returns as ep0 has news that come first. Throws where
    /// the controller, which took DMABUFs before, refuses them.
    void check_refused() const;
    /// Until the host has configured the function, and `open` has made the way. False where the
    /// controller refuses DMABUFs.
    bool await_enable(Turn& turn, int cancel, const std::function<bool()>& open);
    void leave() noexcept;

    /// Right before each ioctl of the endpoint: after UNBIND it would bring the kernel down.
    void hear();
    /// Wakes this end's thread, where another one has heard something.
    void wake() noexcept
    {
        woken_ = true;
        news_.set();
    }
    /// Throws where the host has been waited for since `since_ns` for too long.
    void check_patience(std::int64_t since_ns, const char* lacking) const;
    /// Waits for `fence`, too; -1: for none.
    Wait wait_for_fence(int fence);
    /// Before a fence is closed: its number may come again.
    void unwatch() noexcept;
    std::string endpoint_path() const;
    const StreamShape& shape() const override { return shape_; }

    FfsSettings settings_;
    StreamShape shape_; ///< what the host is told
    Direction direction_;
    std::shared_ptr<Function> function_;
    std::string refusal_; ///< why the last attempt to attach was refused; empty = it was not
    bool fresh_ = false;  ///< the blocks have not been attached yet
    std::optional<sys::FdGroup> group_;
    bool joined_ = false;

private:
    std::string why_no_dmabufs(const Memory& memory) const;

    std::string dmabuf_refusal_; ///< why this controller takes none; empty = it may
    detail::MemoryRefusals refused_; ///< those of these memories it does not take
    sys::Event news_;
    bool woken_ = false;
    int watched_ = -1; ///< the fence in the group
};

} // namespace iio_stream::usb
