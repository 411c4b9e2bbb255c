// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/connection_state.hpp"
#include "iio_stream/endpoint.hpp"
#include "usb/host/board_share.hpp"
#include "usb/host/bulk_sender.hpp"
#include "usb/host/reconnect_timer.hpp"

#include <optional>
#include <poll.h>

namespace iio_stream::usb {

/// Sends a stream to a board whose command line states the format. Blocks that the board did not
/// receive, because its endpoint was halted or because it was gone, are sent again.
/// Owns: the claimed device and the transfers.
class UsbSink final : public Sink {
public:
    explicit UsbSink(UsbSettings settings);

    Fault fault() const noexcept override { return Fault::device; }
    /// A restart waits for answers to requests.
    SinkTraits traits() const noexcept override { return {.may_block = true}; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool ready() const noexcept override { return bulk_sender_->size() + parts_ <= capacity_; }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return {board_ ? board_->fd() : -1, POLLIN}; }
    std::size_t pending() const noexcept override { return held_; }
    void stop(Stop how, const StreamEnd& end) override;
    SinkResult result() const override;
    LinkState link() const noexcept override { return connection_.state(); }

private:
    BoardConnection& board() const noexcept { return **board_; }
    void open_again(std::int64_t wait_ns, std::int64_t patience_ns, int cancel);
    void close_board() noexcept;
    void break_off(const Error& error);
    bool try_reconnect();
    void continue_sending();
    void remove_sent();
    void begin_again();
    void send_end(const StreamEnd& stream_end);
    bool flush_out();
    bool await_confirmation();

    UsbSettings settings_;
    std::optional<BoardShare> board_; ///< empty while the board is gone; unsent blocks wait
    framing::StreamShape shape_;
    std::optional<BulkSender> bulk_sender_; ///< while streaming
    /// Blocks on the wire per block of the pipeline, and the maximum number of them in the queue.
    std::size_t parts_ = 1, capacity_ = 0;
    std::size_t held_ = 0;           ///< blocks of the pipeline
    detail::Fifo<std::size_t> left_; ///< for each block of the pipeline, the parts not sent yet
    Started started_;
    std::size_t beginnings_ = 0; ///< restarts since the last block was sent
    std::int64_t timeout_ns_ = 0, progress_ns_ = 0;
    int cancel_ = -1, cancel_start_ = -1;
    std::uint64_t sequence_ = 0, next_index_ = 0;
    bool end_sent_ = false; ///< the board has everything, and may disappear
    bool confirmed_ = true; ///< false: it disappeared before it confirmed the end
    ReconnectTimer reconnect_timer_;
    detail::ConnectionState connection_;
    bool detects_losses_ = true; ///< StreamInfo::detects_losses
};

} // namespace iio_stream::usb
