// SPDX-License-Identifier: MIT
#include "zmq/sink.hpp"

#include "core/stream/unsent_metadata.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <random>

namespace iio_stream::zmq {

namespace {

constexpr std::size_t kMostPeerSockets = 256;
constexpr std::size_t kMostTallies = 100; ///< of disconnected subscribers; the oldest are merged

} // namespace

std::optional<Hop> ZmqSink::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "zmq-" + settings_.pattern;
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "the socket copies into the kernel's buffers";
    return hop;
}

bool ZmqSink::prepare(const StreamInfo& stream, BlockPool& pool, int, std::string& why)
{
    detail::note_unsent_metadata(stream, why);
    timeout_ns_ = stream.timeout_ns;
    sample_bytes_ = stream.format.sample_bytes;
    drops_ = stream.drops;
    over_ = false;
    queue_ = settings_.limit != 0 ? settings_.limit : pool.count();
    const std::size_t parts = settings_.index ? kMaxGaps + 1 : 1; // per block
    leases_ = std::vector<Lease>(pool.count() * parts);
    for (Lease& lease : leases_)
        lease.owner = this;
    most_leases_ = drops_ ? std::max<std::size_t>(pool.count() / 4, 1) : leases_.size();
    parts_.reset(parts);
    indexer_.reset(std::random_device{}() * std::uint64_t{0x100000001} ^
                       static_cast<std::uint64_t>(sys::realtime_ns()),
                   sample_bytes_);
    if (!peer_sockets_.empty()) // prepared again because another endpoint rejected its plan
        return true;
    unheard_ = missed_ = 0;
    past_tallies_.clear();
    open();
    if (settings_.wait)
        wait_for_peer(stream.cancel_start);
    return true;
}

void ZmqSink::open()
{
    context_.emplace();
    if (settings_.curve && !settings_.curve->clients.empty())
        authenticator_.emplace(*context_, *settings_.curve);
    group_.emplace();
    group_->add(freed_.fd(), POLLIN);
    idle_ = idle_listener();
    listener_.reset();
    peer_sockets_.reserve(kMostPeerSockets);
    add_peer_socket();
}

void ZmqSink::add_peer_socket()
{
    peer_sockets_.push_back(std::make_unique<PeerSocket>(
        *context_, settings_, PeerSocket::Config{queue_, timeout_ns_, listener_.get()}, *group_));
    if (!listener_.valid())
        listener_ = peer_sockets_.back()->take_listener();
}

void ZmqSink::wait_for_peer(int cancel)
{
    const std::int64_t deadline = sys::after(timeout_ns_);
    for (;;) {
        poll_peers();
        if (std::any_of(peer_sockets_.begin(), peer_sockets_.end(),
                        [](auto& o) { return o->wanted(); }))
            return;
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            throw Error(
                Fault::device, ETIMEDOUT, settings_.bind ? "bind" : "connect", settings_.address,
                "no peer connected within " + std::to_string(timeout_ns_ / 1'000'000) + " ms",
                "--timeout waits longer; wait=off does not wait");
        pollfd fds[] = {{group_->fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 100)));
        if (fds[1].revents != 0)
            throw Error(Fault::device, ECANCELED, "connect", settings_.address);
    }
}

// Once a peer has connected to the listening PeerSocket, a new one listens in its place.
void ZmqSink::poll_peers()
{
    for (auto& peer_socket : peer_sockets_)
        peer_socket->poll_events();
    if (!publishes() || !settings_.bind)
        return;
    const auto listening = [](const auto& peer_socket) { return peer_socket->listens(); };
    const auto spare = std::find_if(peer_sockets_.begin(), peer_sockets_.end(), listening);
    const bool needed = spare == peer_sockets_.end();
    if (!needed && (*spare)->begun()) {
        (*spare)->stop_listening(idle_.get(), listener_.get());
        if (peer_sockets_.size() < kMostPeerSockets)
            add_peer_socket();
    } else if (needed && peer_sockets_.size() < kMostPeerSockets) {
        add_peer_socket();
    }
    std::erase_if(peer_sockets_, [&](const auto& peer_socket) {
        if (peer_socket->listens() || !peer_socket->over())
            return false;
        forget(*peer_socket);
        return true;
    });
}

void ZmqSink::forget(const PeerSocket& peer_socket)
{
    if (peer_socket.delivered + peer_socket.dropped == 0)
        return;
    past_tallies_.push_back({peer_socket.name(), peer_socket.delivered, peer_socket.dropped});
    if (past_tallies_.size() <= kMostTallies)
        return;
    const Tally first = past_tallies_.front();
    past_tallies_.pop_front();
    past_tallies_.front() = {"others", past_tallies_.front().delivered + first.delivered,
                             past_tallies_.front().dropped + first.dropped};
}

ZmqSink::Lease& ZmqSink::free_lease() noexcept
{
    while (leases_[next_].taken.load(
        std::memory_order_acquire)) // make_message() ensures that one is free
        next_ = (next_ + 1) % leases_.size();
    return leases_[next_];
}

void ZmqSink::submit(Block filled)
{
    poll_peers();
    if (settings_.index)
        indexer_.split(filled, [&](Block part, const Index& index) {
            parts_.push({std::move(part), index});
        });
    else
        parts_.push({std::move(filled), std::nullopt});
    send_queued();
}

void ZmqSink::send_queued()
{
    while (!parts_.empty() && send_front()) {
        message_.reset();
        (void)parts_.pop();
    }
}

// Determines which peers get a part. Returns false if there are none.
bool ZmqSink::begin(Part& part)
{
    part.begun = true;
    bool any = false;
    for (auto& peer_socket : peer_sockets_) {
        // A push socket that does not drop waits for any peer.
        peer_socket->owes = peer_socket->wanted() || (!publishes() && !drops_);
        any = any || peer_socket->owes;
    }
    if (any)
        make_message(part);
    return any;
}

void ZmqSink::make_message(Part& part)
{
    if (out_.load(std::memory_order_acquire) >= most_leases_) {
        const CpuRead data{part.filled};
        message_.emplace(data.bytes());
        return;
    }
    Lease& lease = free_lease();
    lease.filled.emplace(part.filled.share());
    lease.access.emplace(*lease.filled);
    lease.taken.store(true, std::memory_order_release);
    out_.fetch_add(1, std::memory_order_relaxed);
    message_.emplace(lease.access->bytes(), &ZmqSink::release, &lease);
}

// Returns true when the front part is finished: it was sent or dropped, or no peer is connected.
bool ZmqSink::send_front()
{
    Part& part = parts_.front();
    const std::uint64_t samples = part.filled.bytes() / sample_bytes_;
    if (!part.begun && !begin(part)) {
        unheard_ += samples;
        missed_ += samples;
        return true;
    }
    const auto index = part.index ? part.index->encode() : std::array<std::byte, Index::kBytes>{};
    const std::span<const std::byte> first{index.data(), part.index ? index.size() : 0};
    bool waits = false;
    for (auto& peer_socket : peer_sockets_) {
        if (!peer_socket->owes)
            continue;
        if (publishes() && !peer_socket->wanted()) { // the subscription has ended
            peer_socket->owes = false;
        } else if (peer_socket->send(first, *message_)) {
            peer_socket->owes = false;
            peer_socket->delivered += samples;
            part.reached = true;
        } else if (drops_) {
            peer_socket->owes = false;
            peer_socket->dropped += samples;
        } else {
            waits = true;
        }
    }
    if (!waits && !part.reached)
        missed_ += samples;
    return !waits;
}

// Called on a thread of libzmq or, if libzmq keeps no reference, on the sink's thread.
void ZmqSink::release(void*, void* hint) noexcept
{
    Lease& lease = *static_cast<Lease*>(hint);
    ZmqSink& sink = *lease.owner;
    // libzmq's queues already order this after submit(), but ThreadSanitizer does not see that.
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
    poll_peers();
    send_queued();
}

// If the sink drops, it does not wait here for slow peers: stop() gives them time.
void ZmqSink::flush()
{
    over_ = drops_;
    if (over_)
        freed_.set(); // makes a waiting thread check pending() again
}

void ZmqSink::stop(Stop how, const StreamEnd&)
{
    if (!context_)
        return;
    message_.reset();
    parts_.clear();
    // This is the time for messages that the kernel has not taken yet. A sink that drops waits for
    // half of the timeout at most, so that a slow peer does not use up the thread's whole deadline.
    const std::int64_t linger_ns = how == Stop::abort ? 0 : drops_ ? timeout_ns_ / 2 : timeout_ns_;
    for (auto& peer_socket : peer_sockets_) {
        peer_socket->poll_events();
        forget(*peer_socket);
        peer_socket->close(linger_ns);
    }
    peer_sockets_.clear();
    authenticator_.reset();
    context_.reset();
    group_.reset();
    listener_.reset();
}

SinkResult ZmqSink::result() const
{
    nlohmann::ordered_json report{{"unheard_samples", unheard_}};
    if (!publishes())
        return {.report = report.dump()};
    report["subscribers"] = nlohmann::ordered_json::array();
    for (const Tally& tally : past_tallies_)
        report["subscribers"].push_back({{"peer", tally.name},
                                         {"delivered_samples", tally.delivered},
                                         {"dropped_samples", tally.dropped}});
    return {.report = report.dump()};
}

} // namespace iio_stream::zmq
