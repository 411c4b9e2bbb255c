// SPDX-License-Identifier: MIT
#include "usb/board/ffs_end.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "usb/attribute_allowlist.hpp"
#include "usb/options.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

namespace {

const char* copying(Direction direction)
{
    return direction == Direction::to_host ? "write" : "read";
}

} // namespace

FfsSettings FfsSettings::from(Uri& uri, Direction direction)
{
    FfsSettings s;
    s.mount = uri.rest;
    while (s.mount.size() > 1 && s.mount.ends_with('/'))
        s.mount.pop_back();
    if (s.mount.empty() || s.mount.front() != '/')
        fail_usage("ffs:" + s.mount + " is not a mount point",
                   "use one such as ffs:/run/iio-stream/ffs, which iio-stream gadget up makes");
    const bool sends = direction == Direction::to_host;
    const std::string path =
        uri.options.take_or_standard(sends ? kFfsSinkOptions["path"] : kFfsSourceOptions["path"]);
    if (path == "dmabuf")
        s.path = FfsPath::dmabuf;
    else if (path == copying(direction))
        s.path = FfsPath::copied;
    if (const auto wait = uri.options.take_duration(kFfsOptions["wait"]))
        s.wait_ns = wait->count();
    s.check = framing::take_check(uri);
    if (sends)
        s.allowed =
            AttributeAllowlist::parse(uri.options.take(kFfsSinkOptions["allow"]).value_or(""));
    return s;
}

FfsEnd::FfsEnd(FfsSettings settings, Direction direction)
    : settings_(std::move(settings)),
      direction_(direction),
      function_(Function::at(settings_.mount))
{
    function_->expect(direction_);
}

FfsEnd::~FfsEnd()
{
    function_->forget(direction_);
}

bool FfsEnd::wants_dmabufs(const MemoryTraits& traits) const noexcept
{
    return traits.attachable && settings_.path != FfsPath::copied &&
           why_no_dmabufs(traits.memory).empty();
}

std::string FfsEnd::why_no_dmabufs(const Memory& memory) const
{
    return dmabuf_refusal_.empty() ? refused_.of(memory) : dmabuf_refusal_;
}

std::optional<Hop> FfsEnd::plan_hop(const MemoryTraits& traits, std::string& why) const
{
    Hop hop;
    if (wants_dmabufs(traits)) {
        hop.mechanism = "ffs-dmabuf";
        hop.reason = refused_.text();
        hop.attached = true;
        // Kernels without the 2026 fix treat a block as if it were being written while it is sent,
        // and make other devices wait for it.
        hop.holds_off = direction_ == Direction::to_host;
        framing::add_checksum_cost(settings_.check, hop);
        return hop;
    }
    const std::string way = copying(direction_);
    const bool asked = settings_.path == FfsPath::copied;
    hop.reason = refused_.why_copied(asked ? "path=" + way + " was given" : "", dmabuf_refusal_);
    if (hop.reason.empty())
        hop.reason = "the blocks are not DMABUFs";
    if (settings_.path == FfsPath::dmabuf) {
        why = "path=dmabuf was given: " + hop.reason;
        return std::nullopt;
    }
    hop.mechanism = "ffs-" + way;
    hop.copies = 1;
    hop.cpu = true;
    framing::add_checksum_cost(settings_.check, hop);
    return hop;
}

void FfsEnd::refused(int error, const Memory& memory)
{
    if (error == EFAULT || error == EIO || error == ENOMEM) {
        refusal_ = error == EFAULT ? detail::bounced_text("it may be that the USB controller")
                                   : "the kernel cannot map it for the USB controller (" +
                                         errno_name(error) + ")";
        return refused_.add(memory, refusal_);
    }
    dmabuf_refusal_ = error == EPERM ? "the USB controller takes no DMABUFs (EPERM: it has no "
                                       "scatter-gather)"
                                     : "FunctionFS does not take DMABUFs (" + errno_name(error) +
                                           "; Linux 6.9 and newer do)";
    refusal_ = dmabuf_refusal_;
}

void FfsEnd::check_refused() const
{
    if (!refusal_.empty())
        throw Error(Fault::device, EPERM, "attach to", endpoint_path(), refusal_);
}

void FfsEnd::join(framing::StreamShape shape, Turn& turn)
{
    shape_ = std::move(shape);
    function_->join(direction_, *this, turn);
    joined_ = true;
    group_.emplace();
    watched_ = -1;
    group_->add(wake_event_.fd(), POLLIN);
}

void FfsEnd::leave(Turn& turn) noexcept
{
    group_.reset();
    if (std::exchange(joined_, false))
        function_->leave(direction_, turn);
}

bool FfsEnd::await_enable(Turn& turn, int cancel, const std::function<bool()>& open)
{
    const std::int64_t since = sys::monotonic_ns();
    refusal_.clear();
    for (;;) {
        poll_ep0();
        if (function_->enabled() && open())
            return true;
        if (!refusal_.empty())
            return false;
        check_patience(since, "no host has configured the gadget");
        turn.unlock();
        pollfd fds[] = {{group_->fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)::poll(fds, 2, 100);
        turn.lock();
        if (fds[1].revents != 0)
            throw Error(Fault::device, ECANCELED, "wait for a host at", settings_.mount);
    }
}

void FfsEnd::poll_ep0()
{
    function_->catch_up();
    if (std::exchange(woken_, false))
        wake_event_.clear();
}

void FfsEnd::check_patience(std::int64_t since_ns, const char* lacking) const
{
    if (settings_.wait_ns == 0 || sys::monotonic_ns() - since_ns < settings_.wait_ns)
        return;
    throw Error(Fault::device, ETIMEDOUT, "wait for a host at", settings_.mount, lacking,
                "wait= allows more time; iio-stream gadget status shows the controller");
}

Wait FfsEnd::wait_for_fence(int fence)
{
    if (fence != watched_) {
        unwatch();
        if (fence >= 0) {
            group_->add(fence, POLLIN);
            watched_ = fence;
        }
    }
    return {group_->fd(), POLLIN};
}

void FfsEnd::unwatch() noexcept
{
    if (watched_ >= 0)
        group_->remove(std::exchange(watched_, -1));
}

std::string FfsEnd::endpoint_path() const
{
    return settings_.mount + (direction_ == Direction::to_host ? "/ep1" : "/ep2");
}

} // namespace iio_stream::usb
