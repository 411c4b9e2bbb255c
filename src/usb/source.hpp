// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "core/presence.hpp"
#include "framing/sequence_tracker.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "usb/board_share.hpp"
#include "usb/bulk_receiver.hpp"
#include "usb/event_receiver.hpp"
#include "usb/reconnect_timer.hpp"

#include <optional>
#include <poll.h>

namespace iio_stream::usb {

/// Receives a board's stream: the kernel fills the pipeline's blocks, several in flight. If the
/// board goes and comes back, the stream continues after a gap.
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
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    bool settle() override;
    SourceStats stats() const override;
    std::uint64_t absences() const noexcept override { return presence_.changes(); }
    Tuning tuning() const override { return shape_.tuning; }

private:
    Board& board() const noexcept { return **board_; }
    framing::StreamShape open(std::int64_t patience_ns);
    void open_again(std::int64_t wait_ns, std::int64_t patience_ns);
    void open_pipe();
    void close_pipe() noexcept;
    void hear_news();
    [[noreturn]] void fail_broken();
    Taken take_next();
    bool account(const framing::Header& header);
    Taken deliver(const framing::Header& header);
    void let_board_go() noexcept;
    void break_off(const Error& error);
    bool come_back();
    void join_up(const framing::Header& header);

    UsbSettings settings_;
    sys::Event cancel_;
    std::optional<BoardShare> board_; ///< empty while the board is gone
    framing::StreamShape shape_;
    detail::Orders queue_;
    std::size_t most_ = 0; ///< transfers
    std::optional<BulkReceiver>
        bulk_receiver_; ///< while streaming; its transfers end before the blocks are freed
    std::optional<EventReceiver> event_receiver_; ///< while streaming
    std::optional<std::string> broken_by_;        ///< why the board says its stream ended
    framing::SequenceTracker sequence_tracker_;
    framing::BlockCheck check_;
    Started started_;
    std::int64_t patient_until_ns_ = 0; ///< a board that was asked gets ready first

    std::uint64_t last_sequence_ = 0; ///< of the headers that have come
    std::uint32_t last_stream_id_ = 0;
    bool rejoining_ = false; ///< nothing has come since the board was gone
    ReconnectTimer reconnect_timer_;
    detail::Presence presence_;
};

} // namespace iio_stream::usb
