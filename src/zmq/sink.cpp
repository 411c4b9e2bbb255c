// SPDX-License-Identifier: MIT
#include "zmq/sink.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace iio_stream::zmq {

std::optional<Hop> ZmqSink::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "zmq-" + settings_.pattern;
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "the socket copies into the kernel's buffers";
    return hop;
}

bool ZmqSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string&)
{
    timeout_ns_ = stream.timeout_ns;
    sample_bytes_ = stream.format.sample_bytes;
    leases_ = std::vector<Lease>(settings_.limit != 0 ? settings_.limit : pool.count());
    for (Lease& lease : leases_)
        lease.owner = this;
    if (socket_) // prepared once more, as another end was refused
        return true;
    subscribers_ = unheard_ = 0;
    open();
    if (settings_.wait)
        await_peer(cancel);
    return true;
}

void ZmqSink::open()
{
    // An XPUB is a PUB that says who listens. Nothing is dropped inside: leases are the limit.
    socket_.emplace(publishes() ? ZMQ_XPUB : ZMQ_PUSH, settings_.address);
    socket_->set(ZMQ_SNDHWM, 0);
    if (publishes())
        socket_->set(ZMQ_XPUB_VERBOSER, 1); // each that comes and goes
    else
        socket_->set(ZMQ_IMMEDIATE, 1);     // nothing waits for a peer that is not there
    if (settings_.address.starts_with("tcp")) { // a machine that vanished is no peer any more
        socket_->set(ZMQ_TCP_KEEPALIVE, 1);
        socket_->set(ZMQ_TCP_MAXRT, static_cast<int>(timeout_ns_ / 1'000'000));
    }
    socket_->open(settings_.bind);
    group_.emplace();
    group_->add(freed_.fd(), POLLIN);
    group_->add(socket_->fd(), POLLIN);
}

void ZmqSink::await_peer(int cancel)
{
    const std::int64_t deadline = sys::after(timeout_ns_);
    for (;;) {
        if (publishes())
            hear_subscriptions();
        if (publishes() ? subscribers_ != 0 : socket_->can(ZMQ_POLLOUT))
            return;
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            throw Error(Fault::other, ETIMEDOUT, settings_.bind ? "bind" : "connect",
                        settings_.address,
                        "no peer came within " + std::to_string(timeout_ns_ / 1'000'000) + " ms",
                        "--timeout waits longer, wait=off does not");
        pollfd fds[] = {{socket_->fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 100)));
        if (fds[1].revents != 0)
            throw Error(Fault::other, ECANCELED, "connect", settings_.address);
    }
}

void ZmqSink::hear_subscriptions()
{
    Message message;
    while (socket_->receive(message)) {
        const auto bytes = message.bytes();
        if (bytes.empty())
            continue;
        if (bytes[0] == std::byte{1})
            ++subscribers_;
        else if (bytes[0] == std::byte{0} && subscribers_ != 0)
            --subscribers_;
    }
}

bool ZmqSink::ready() const noexcept
{
    if (unsent_ || pending() >= leases_.size())
        return false;
    try {
        return publishes() || socket_->can(ZMQ_POLLOUT);
    } catch (...) {
        return true; // submit() will tell
    }
}

ZmqSink::Lease& ZmqSink::free_lease() noexcept
{
    while (leases_[next_].taken.load(std::memory_order_acquire)) // ready() saw to it that one is free
        next_ = (next_ + 1) % leases_.size();
    return leases_[next_];
}

void ZmqSink::submit(Filled filled)
{
    if (publishes()) {
        hear_subscriptions();
        if (subscribers_ == 0) {
            unheard_ += filled.bytes() / sample_bytes_;
            return;
        }
    }
    Lease& lease = free_lease();
    lease.filled.emplace(std::move(filled));
    lease.access.emplace(*lease.filled);
    lease.taken.store(true, std::memory_order_release);
    out_.fetch_add(1, std::memory_order_relaxed);
    unsent_.emplace(lease.access->bytes(), &ZmqSink::release, &lease);
    if (socket_->send(*unsent_))
        unsent_.reset();
}

// On a thread of libzmq's, or where it did not need one, on the sink's.
void ZmqSink::release(void*, void* hint) noexcept
{
    Lease& lease = *static_cast<Lease*>(hint);
    ZmqSink& sink = *lease.owner;
    // libzmq's queues order this behind submit() already, unseen by ThreadSanitizer.
    (void)lease.taken.load(std::memory_order_acquire);
    lease.access.reset();
    lease.filled.reset();
    lease.taken.store(false, std::memory_order_release);
    sink.out_.fetch_sub(1, std::memory_order_release);
    sink.freed_.set();
}

void ZmqSink::service()
{
    freed_.clear();
    if (publishes())
        hear_subscriptions();
    if (unsent_ && socket_->send(*unsent_))
        unsent_.reset();
}

void ZmqSink::stop(Stop how)
{
    if (!socket_)
        return;
    unsent_.reset();
    // The leases are back already, but what the kernel has not taken yet may lie in small pieces.
    socket_->close(how == Stop::drain ? timeout_ns_ : 0);
    group_.reset();
    socket_.reset();
}

std::string ZmqSink::report() const
{
    return publishes() ? "{\"unheard_samples\":" + std::to_string(unheard_) + "}" : "";
}

} // namespace iio_stream::zmq
