// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "sys/fd_group.hpp"
#include "zmq/index.hpp"
#include "zmq/peer_socket.hpp"
#include "zmq/socket.hpp"
#include "zmq/zmq.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

namespace iio_stream::zmq {

/// Sends each block as one message from its own pages: libzmq holds the lease until the kernel has
/// taken the bytes. Each subscriber has its own PeerSocket with a bounded queue, so that a slow one
/// does not slow down the others. The samples that it misses are counted. If slow subscribers hold
/// many blocks, the next blocks are copied.
/// Owns: the sockets and their context.
/// Blocks: prepare() with wait=on until a peer is connected, stop() until everything is sent, both
/// with a deadline.
class ZmqSink final : public Sink {
public:
    explicit ZmqSink(Settings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::other; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = true, .drops_when_full = true};
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return parts_.empty(); }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return {group_->fd(), POLLIN}; }
    std::size_t pending() const noexcept override
    {
        return parts_.size() + (over_ ? 0 : out_.load(std::memory_order_acquire));
    }
    void flush() override;
    void stop(Stop how, const StreamEnd& end) override;
    std::uint64_t missed() const noexcept override { return missed_; }
    SinkResult result() const override;

private:
    /// A block, or part of one, held by libzmq.
    struct Lease {
        ZmqSink* owner = nullptr;
        std::atomic<bool> taken{false};
        std::optional<Block> filled;
        std::optional<CpuRead> access;
    };
    /// The content of one message.
    struct Part {
        Block filled;
        std::optional<Index> index;
        bool begun = false, reached = false; ///< reached: at least one PeerSocket took it
    };
    /// Sample counts of a subscriber.
    struct Tally {
        std::string name;
        std::uint64_t delivered = 0, dropped = 0;
    };

    static void release(void* data, void* lease) noexcept;
    bool publishes() const noexcept { return settings_.pattern == "pub"; }
    void open();
    void wait_for_peer(int cancel);
    void add_peer_socket();
    void poll_peers();
    void forget(const PeerSocket& peer_socket);
    void send_queued();
    bool send_front();
    bool begin(Part& part);
    void make_message(Part& part);
    Lease& free_lease() noexcept;

    Settings settings_;
    std::int64_t timeout_ns_ = 0;
    std::size_t sample_bytes_ = 1;
    std::size_t queue_ = 1; ///< maximum number of messages in the queue of one peer
    bool drops_ = true, over_ = false;
    std::vector<Lease> leases_;
    std::size_t most_leases_ = 1, next_ = 0;
    std::atomic<std::size_t> out_{0};
    sys::Event freed_;
    std::optional<Context> context_;
    std::optional<Authenticator> authenticator_;
    std::optional<sys::FdGroup> group_;
    sys::UniqueFd listener_, idle_;
    std::vector<std::unique_ptr<PeerSocket>>
        peer_sockets_; ///< closed before the members above are destroyed
    Indexer indexer_;
    detail::Fifo<Part> parts_;
    std::optional<Message> message_; ///< of the front part
    std::deque<Tally> past_tallies_;
    std::uint64_t unheard_ = 0; ///< samples for which no subscriber or peer was connected
    std::uint64_t missed_ = 0;  ///< unheard_, and samples that no PeerSocket had room for
};

} // namespace iio_stream::zmq
