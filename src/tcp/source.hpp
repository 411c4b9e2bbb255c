// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "core/presence.hpp"
#include "framing/info.hpp"
#include "framing/sequence_tracker.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"
#include "tcp/door.hpp"

#include <array>
#include <optional>
#include <poll.h>

namespace iio_stream::tcp {

inline constexpr std::int64_t kClockEndNs = INT64_MAX / 4; ///< no machine has run for so long

/// Receives another iio-stream's stream into the pipeline's blocks. If the peer goes and comes
/// back, the stream continues: without a loss if it is the same stream, else after a gap. Owns: the
/// listener and the connection. Blocks: its constructor, until the peer has said what it sends.
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
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool settle() override;
    SourceStats stats() const override;
    std::uint64_t absences() const noexcept override { return presence_.changes(); }
    Tuning tuning() const override { return shape_.tuning; }
    std::string remark() const override;

private:
    Message request() const;
    framing::PeerInfo offer_of(const Guest& guest) const;
    void judge(const Guest& guest) const;
    void admit(Guest guest);
    Taken take_next();
    bool receive(std::span<std::byte> bytes, std::size_t& filled);
    Taken deliver();
    void check_header() const;
    void join_up();
    void acknowledge();
    void break_off(const Error& error);
    void let_peer_go() noexcept;
    [[noreturn]] void fail_gone(int error, const std::string& detail,
                                const std::string& hint = "") const;

    Settings settings_;
    sys::Event cancel_;
    std::optional<framing::StreamShape> known_; ///< once the first peer has come
    framing::StreamShape shape_;
    Door door_;
    sys::UniqueFd socket_;
    detail::Presence presence_;
    std::string peer_;
    std::optional<sys::FdGroup> group_; ///< the socket or the door
    detail::Orders queue_;
    framing::SequenceTracker sequence_tracker_;
    framing::BlockCheck check_;
    std::array<std::byte, framing::kHeaderBytes> head_{};
    std::optional<framing::Header> header_; ///< of the block that is coming
    std::size_t head_filled_ = 0, body_filled_ = 0;
    std::optional<CpuWrite> access_;   ///< to the front order's block
    std::int64_t clock_offset_ns_ = 0; ///< to add to the peer's clock
    std::uint64_t uncertainty_ns_ = 0;
    bool clock_known_ = false;
    std::uint32_t stream_id_ = 0; ///< 0: no block has come yet
    std::uint64_t next_sequence_ = 0;
    std::uint64_t breaks_ = 0;
    std::int64_t patient_until_ns_ = 0;
};

} // namespace iio_stream::tcp
