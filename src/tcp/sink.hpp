// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "core/stream/connection_state.hpp"
#include "framing/info.hpp"
#include "iio_stream/endpoint.hpp"
#include "tcp/rendezvous.hpp"

#include <array>
#include <atomic>
#include <optional>
#include <poll.h>

namespace iio_stream::tcp {

/// Sends a stream to one peer at a time. Each block stays here until the peer acknowledges it, so
/// that blocks that were on the way when a connection broke are sent again. Owns: the listener, the
/// connection, and the leases of blocks that are not acknowledged. Blocks: stop() until the peer
/// acknowledges the end, with a deadline.
class TcpSink final : public Sink {
public:
    explicit TcpSink(Settings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::device; }
    SinkTraits traits() const noexcept override { return {.may_block = true}; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool has_receiver() override { return has_receiver_.load(std::memory_order_acquire); }
    bool ready() const noexcept override { return outgoing_.size() < capacity_; }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return {group_->fd(), POLLIN}; }
    std::size_t pending() const noexcept override { return outgoing_.size(); }
    void stop(Stop how, const StreamEnd& end) override;
    LinkState link() const noexcept override { return connection_.state(); }
    SinkResult result() const override;

private:
    /// A block with its header or, without a block, the end.
    struct Outgoing {
        std::optional<Block> filled;
        framing::Header header;
    };

    void check_peer(const Peer& peer);
    void accept_peer(Peer peer);
    void receive_acks();
    void confirm_before(std::uint64_t sequence);
    void send_queued();
    bool send_front(Outgoing& one);
    void watch_output(bool wanted);
    void break_off(const Error& error);
    void disconnect() noexcept;
    void wait_for_acks();
    [[noreturn]] void fail_connection(int error, const std::string& detail = "") const;

    Settings settings_;
    framing::StreamShape shape_; ///< the offer to the peer
    std::optional<Rendezvous> rendezvous_;
    std::optional<sys::FdGroup> group_;
    sys::UniqueFd socket_; ///< to the peer
    detail::ConnectionState connection_;
    std::string peer_name_;                 ///< its address
    std::atomic<bool> has_receiver_{false}; ///< a peer has connected
    std::uint32_t stream_id_ = 0;
    detail::Fifo<Outgoing> outgoing_;
    std::size_t capacity_ = 0;
    std::size_t sent_ = 0;          ///< entries at the front of outgoing_ that the kernel has
    std::size_t offset_ = 0;        ///< bytes of the next entry that the kernel has
    std::optional<CpuRead> access_; ///< to the next entry
    std::array<std::byte, framing::kHeaderBytes> header_{}; ///< of the next entry
    std::array<std::byte, 16> ack_{};
    std::size_t ack_filled_ = 0;
    bool watching_output_ = false, ending_ = false, confirmed_ = true;
    bool detects_losses_ = true;  ///< StreamInfo::detects_losses
    bool is_first_header_ = true; ///< the next header is the first that the peer gets
    std::uint64_t sequence_ = 0, next_index_ = 0;
    std::uint64_t breaks_ = 0, resent_ = 0;
    std::int64_t timeout_ns_ = 0, progress_ns_ = 0;
    int cancel_ = -1;
};

} // namespace iio_stream::tcp
