// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/fill_request.hpp"
#include "core/stream/connection_state.hpp"
#include "framing/sequence_tracker.hpp"
#include "framing/stream_rest.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "usb/host/board_share.hpp"
#include "usb/host/bulk_receiver.hpp"
#include "usb/host/event_receiver.hpp"
#include "usb/host/reconnect_timer.hpp"

#include <optional>
#include <poll.h>

namespace iio_stream::usb {

/// Receives a board's stream: the kernel fills the pipeline's blocks, several in flight. If the
/// board disappears and comes back, the stream continues after a gap.
/// Owns: the claimed device and the transfers.
class UsbSource final : public Source {
public:
    explicit UsbSource(UsbSettings settings);

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return shape_.format; }
    bool live() const noexcept override { return true; }
    BlockNeeds needs() const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void cancel() noexcept override { cancel_.set(); }
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t) override;
    Taken take() override;
    bool flush() override { return rest_.begin(board_ && bulk_receiver_); }
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool on_timeout(std::optional<std::chrono::nanoseconds> chosen) override;
    SourceStats stats() const override;
    LinkState link() const noexcept override { return connection_.state(); }
    SourceInfo info() const override { return {.tuning = shape_.tuning}; }

private:
    BoardConnection& board() const noexcept { return **board_; }
    framing::StreamShape open(std::int64_t patience_ns);
    void open_again(std::int64_t wait_ns, std::int64_t patience_ns);
    void open_pipe();
    void close_pipe() noexcept;
    void read_events();
    [[noreturn]] void fail_broken();
    Taken take_next();
    bool account(const framing::Header& header);
    Taken deliver(const framing::Header& header);
    std::optional<Block> take_part();
    Time time_of(const framing::Header& header) const noexcept;
    void close_board() noexcept;
    void break_off(const Error& error);
    bool try_reconnect();
    void join_up(const framing::Header& header);

    UsbSettings settings_;
    sys::Event cancel_;
    std::optional<BoardShare> board_; ///< empty while the board is gone
    framing::StreamShape shape_;
    detail::FillQueue queue_;
    std::size_t most_ = 0; ///< maximum number of blocks in flight
    /// Exists while streaming. Its transfers end before the blocks are freed.
    std::optional<BulkReceiver> bulk_receiver_;
    std::optional<EventReceiver> event_receiver_; ///< while streaming
    /// The error with which the board has ended its stream.
    std::optional<std::string> stream_error_;
    framing::SequenceTracker sequence_tracker_;
    framing::BlockCheck check_;
    Started started_;
    std::int64_t patient_until_ns_ = 0; ///< deadline for the first block; 0: it has arrived

    std::uint64_t last_sequence_ = 0; ///< of the last header that has arrived
    std::uint32_t last_stream_id_ = 0;
    framing::StreamRest rest_;
    bool rejoining_ = false; ///< no header has arrived since the board disappeared
    ReconnectTimer reconnect_timer_;
    detail::ConnectionState connection_;
};

} // namespace iio_stream::usb
