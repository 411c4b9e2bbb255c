// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "zmq/socket.hpp"
#include "zmq/zmq.hpp"

#include <atomic>
#include <optional>
#include <poll.h>
#include <vector>

namespace iio_stream::zmq {

/// Sends each block as one message, from its own pages: libzmq holds the lease until the kernel has
/// taken the bytes. What its peers are too slow for stays in its hands, so that the lane counts what
/// it drops for it; libzmq itself drops nothing.
/// Owns: the socket and its context. Blocks: prepare() until a peer is there, stop() until all is
/// sent, both with a deadline.
class ZmqSink final : public Sink {
public:
    explicit ZmqSink(Settings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::other; }
    bool may_block() const noexcept override { return true; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override;
    void submit(Filled filled) override;
    void service() override;
    Wait wait() override { return {group_->fd(), POLLIN}; }
    std::size_t pending() const noexcept override { return out_.load(std::memory_order_acquire); }
    void stop(Stop how) override;
    bool drops_when_full() const noexcept override { return true; }
    std::string report() const override;

private:
    /// A block in libzmq's hands.
    struct Lease {
        ZmqSink* owner = nullptr;
        std::atomic<bool> taken{false};
        std::optional<Filled> filled;
        std::optional<CpuRead> access;
    };

    static void release(void* data, void* lease) noexcept;
    bool publishes() const noexcept { return settings_.pattern == "pub"; }
    void open();
    void await_peer(int cancel);
    void hear_subscriptions();
    Lease& free_lease() noexcept;

    Settings settings_;
    std::int64_t timeout_ns_ = 0;
    std::size_t sample_bytes_ = 1;
    std::vector<Lease> leases_; ///< as many as may be under way
    std::size_t next_ = 0;
    std::atomic<std::size_t> out_{0};
    sys::Event freed_;
    std::optional<Socket> socket_; ///< closed before the leases go
    std::optional<sys::FdGroup> group_;
    std::optional<Message> unsent_;
    std::uint64_t subscribers_ = 0;
    std::uint64_t unheard_ = 0; ///< samples that nobody had subscribed to
};

} // namespace iio_stream::zmq
