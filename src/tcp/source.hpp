// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/fill_request.hpp"
#include "core/stream/connection_state.hpp"
#include "framing/info.hpp"
#include "framing/sequence_tracker.hpp"
#include "framing/stream_rest.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "tcp/rendezvous.hpp"

#include <array>
#include <optional>
#include <poll.h>

namespace iio_stream::tcp {

/// Receives the stream of another iio-stream into the pipeline's blocks. If the peer disconnects
/// and returns, the stream continues: without a loss if it is the same stream, otherwise after a
/// gap. Owns: the listener and the connection. Blocks: the constructor, and prepare() after stop(),
/// until the peer has sent its offer.
class TcpSource final : public Source {
public:
    explicit TcpSource(Settings settings);

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return shape_.format; }
    bool live() const noexcept override { return true; }
    BlockNeeds needs() const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void cancel() noexcept override { cancel_.set(); }
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        queue_.push({std::move(block), bytes});
    }
    Taken take() override;
    bool flush() override { return rest_.begin(socket_.valid()); }
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool on_timeout(std::optional<std::chrono::nanoseconds> chosen) override;
    SourceStats stats() const override;
    LinkState link() const noexcept override { return connection_.state(); }
    SourceInfo info() const override { return {.tuning = shape_.tuning}; }
    std::string remark() const override;

private:
    Message request() const;
    framing::PeerInfo offer_of(const Peer& peer) const;
    void check_peer(const Peer& peer) const;
    void accept_peer(Peer peer);
    Taken take_next();
    bool receive(std::span<std::byte> bytes, std::size_t& filled);
    Taken deliver();
    std::optional<Block> take_part();
    Time time_of(const framing::Header& header) const noexcept;
    void check_header() const;
    void join_up();
    void acknowledge();
    void break_off(const Error& error);
    void disconnect() noexcept;
    [[noreturn]] void fail_connection(int error, const std::string& detail,
                                      const std::string& hint = "") const;

    Settings settings_;
    sys::Event cancel_;
    std::optional<framing::StreamShape> known_; ///< set by the first peer
    framing::StreamShape shape_;
    Rendezvous rendezvous_;
    sys::UniqueFd socket_;
    detail::ConnectionState connection_;
    std::string peer_name_;
    std::optional<sys::FdGroup> group_; ///< the socket or the rendezvous
    detail::FillQueue queue_;
    framing::SequenceTracker sequence_tracker_;
    framing::BlockCheck check_;
    std::array<std::byte, framing::kHeaderBytes> head_{};
    std::optional<framing::Header> header_; ///< of the block that is being received
    std::size_t head_filled_ = 0, body_filled_ = 0;
    std::optional<CpuWrite> access_;   ///< to the front block of queue_
    std::int64_t clock_offset_ns_ = 0; ///< to add to the peer's clock
    std::uint64_t uncertainty_ns_ = 0;
    bool clock_known_ = false;
    std::uint32_t stream_id_ = 0; ///< 0: no block has arrived yet
    std::uint64_t next_sequence_ = 0;
    std::uint64_t breaks_ = 0;
    framing::StreamRest rest_;
    std::int64_t patient_until_ns_ = 0;
};

} // namespace iio_stream::tcp
