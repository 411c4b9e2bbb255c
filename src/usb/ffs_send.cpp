// SPDX-License-Identifier: MIT
// The hot path of ffs: and what the cable does to it.
#include "iio_stream/error.hpp"
#include "usb/ffs_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::uint64_t kManyFailures = 8; ///< no incident any more, where it is most blocks

} // namespace

// Closing is the one thing that is always allowed; it takes back what is queued. The fences go
// first: their locks are the attachments', and closing one behind the endpoint has hung a kernel.
void FfsSink::close_way() noexcept
{
    if (!way_)
        return;
    unsend();
    group_->remove(way_->header_fd());
    way_.reset();
}

// Nothing is under way any more; what was is to be sent again.
void FfsSink::unsend() noexcept
{
    unwatch();
    for (std::size_t i = 0; i < sent_; ++i)
        parcels_.at(i).fence = {};
    sent_ = 0;
    again_ = false;
}

// Before a fence is closed: its number may come again.
void FfsSink::unwatch() noexcept
{
    if (watched_ >= 0)
        group_->remove(std::exchange(watched_, -1));
}

// The host does not want what was on its way any more.
void FfsSink::pass_over_all()
{
    if (parcels_.empty())
        return;
    close_way();
    while (!parcels_.empty())
        unheard_ += parcels_.pop().filled.bytes() / sample_bytes_;
}

// To be called right before each ioctl of the endpoint: after UNBIND, which DISABLE precedes, it
// would bring the kernel down.
void FfsSink::listen()
{
    const Function::News news = function_.listen();
    if (news.unbound)
        close_way();
    if (news.disabled)
        enabled_ = false;
    if (news.enabled) {
        enabled_ = true;
        again_ = again_ || sent_ != 0; // what was under way has ended with the endpoint
    }
    if (news.stopped || news.started) {
        streaming_ = news.started;
        pass_over_all();
    }
}

Header FfsSink::header_of(const Filled& filled)
{
    Header h;
    h.sequence = sequence_++;
    h.sample_index = filled.sample_index();
    h.flags = (filled.index_exact() ? 0u : Header::index_guessed) |
              (filled.state() == BlockState::unverified ? Header::unverified : 0u);
    h.time_ns = filled.time().clock == Clock::monotonic ? filled.time().ns : 0;
    h.wire_bytes = static_cast<std::uint32_t>(wire_bytes_);
    h.valid_bytes = static_cast<std::uint32_t>(filled.bytes());
    h.loss = merge_losses(filled.gaps(), filled.position());
    next_index_ = filled.sample_index() + filled.bytes() / sample_bytes_;
    return h;
}

void FfsSink::submit(Filled filled)
{
    listen();
    if (!streaming_) {
        unheard_ += filled.bytes() / sample_bytes_;
        return;
    }
    const Header header = header_of(filled);
    parcels_.push({std::move(filled), header});
    ++blocks_;
    send_all();
}

void FfsSink::send_all()
{
    const auto possible = [this] { return enabled_ && !again_ && sent_ < parcels_.size(); };
    while (possible()) {
        std::string why;
        if (!way_ && !open_way(why))
            throw Error(Fault::device, EPERM, "attach to", endpoint_path(), why);
        if (!way_ || sent_ >= way_->most())
            return;
        Parcel& parcel = parcels_.at(sent_);
        parcel.header.stream_id = function_.stream_id();
        parcel.number = number_++;
        parcel.error = 0;
        way_->announce(parcel);
        listen();
        if (!way_ || !possible())
            return; // the header has gone with the endpoint
        if (way_->send(parcel) != 0) {
            again_ = true; // ENABLE is to come
            enabled_ = false;
            return;
        }
        ++sent_;
    }
}

// From the front on. With the endpoint all behind it fails, and is sent again; a request that
// failed alone is a loss, which the host sees in the next header.
void FfsSink::take_ended()
{
    while (sent_ != 0 && way_ && way_->ended(parcels_.front())) {
        const int error = parcels_.front().error;
        if (error == ESHUTDOWN || error == ECONNRESET) {
            again_ = true;
            break;
        }
        if (error != 0 && ++failed_ >= kManyFailures && failed_ >= blocks_ / 2)
            throw Error(Fault::device, error, "send to", endpoint_path(),
                        "the USB controller fails most blocks");
        unwatch();
        (void)parcels_.pop();
        --sent_;
    }
    if (!again_)
        return;
    for (std::size_t i = 0; i < sent_; ++i)
        if (way_ && !way_->ended(parcels_.at(i)))
            return; // it ends soon
    resent_ += sent_;
    unsend();
}

void FfsSink::service()
{
    listen();
    take_ended();
    send_all();
}

Wait FfsSink::wait()
{
    const int front = way_ && sent_ != 0 ? way_->wait_fd(parcels_.front()) : -1;
    const int fence = way_ && front != way_->header_fd() ? front : -1;
    if (fence != watched_) {
        unwatch();
        if (fence >= 0) {
            group_->add(fence, POLLIN);
            watched_ = fence;
        }
    }
    return {group_->fd(), POLLIN};
}

} // namespace iio_stream::usb
