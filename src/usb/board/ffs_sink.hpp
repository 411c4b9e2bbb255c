// SPDX-License-Identifier: MIT
#pragma once

#include "usb/board/attribute_worker.hpp"
#include "usb/board/endpoint_sender.hpp"
#include "usb/board/event_sender.hpp"
#include "usb/board/ffs_end.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace iio_stream::usb {

/// Sends each block to a USB host through FunctionFS: directly from its DMABUF, or by write(). The
/// stream starts when the host requests it. Later, blocks are skipped while no host requests the
/// stream. Blocks that a lost connection interrupts are sent again, in order, when the connection
/// is back.
/// Owns: the endpoint's file and its attachments.
class FfsSink final : public Sink, private FfsEnd {
public:
    explicit FfsSink(FfsSettings settings) : FfsEnd(std::move(settings), Direction::to_host) {}
    ~FfsSink() override;

    Fault fault() const noexcept override { return Fault::device; }
    SinkTraits traits() const noexcept override { return {.may_block = may_block_}; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return plan_hop(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool has_receiver() override;
    bool ready() const noexcept override;
    void submit(Block filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override;
    void stop(Stop how, const StreamEnd& end) override;
    SinkResult result() const override;

private:
    void on_enable() override;
    void on_disable() override;
    void on_unbind() override { close_files(); }
    void on_start(std::uint32_t stream_id, bool again) override;
    void on_stop() override;
    std::string stats_json() const override;
    std::optional<std::string> attribute(std::size_t number) override;
    bool can_set_attribute() const override { return attributes_->is_free(); }
    void set_attribute(std::size_t number, const std::string& value) override
    {
        attributes_->set(number, value);
    }

    void reset(const StreamInfo& stream, BlockPool& pool);
    bool open_sender();
    void close_sender() noexcept;
    void close_files() noexcept;
    void unsend() noexcept;
    void pass_over(const Block& filled, const std::optional<framing::Header::Loss>& loss);
    void pass_over_all();
    void report_loss(const framing::Header& header);
    void send_all();
    void take_ended();
    void report_end(const std::optional<Error>& error);
    void send_end(Turn& turn, const StreamEnd& end, std::int64_t deadline_ns);

    std::optional<AttributeWorker> attributes_; ///< exists if any attributes are allowed
    bool dmabuf_ = false, may_block_ = true;
    BlockPool* pool_ = nullptr;
    int cancel_ = -1;
    std::size_t most_ = 0, sample_bytes_ = 1, wire_bytes_ = 0;
    std::int64_t timeout_ns_ = 0, prepared_ns_ = 0;
    std::uint32_t stream_id_ = 0;
    bool enabled_ = false;                    ///< the endpoint accepts data
    std::atomic<bool> streaming_{false};      ///< the host has requested the stream
    std::unique_ptr<EndpointSender> sender_;  ///< exists from the first ENABLE until UNBIND
    std::optional<EventSender> event_sender_; ///< opened with the first sender_, closed at UNBIND
    detail::Fifo<WireBlock> wire_blocks_;
    std::size_t sent_ = 0; ///< blocks in flight, from the front
    bool again_ = false;   ///< the endpoint has failed; all blocks in flight are sent again
    std::uint64_t sequence_ = 0, next_index_ = 0, number_ = 0;
    std::optional<framing::Header::Loss> passed_; ///< losses in skipped blocks, for the next header
    bool detects_losses_ = true;                  ///< StreamInfo::detects_losses
    std::uint64_t unheard_ = 0, resent_ = 0, failed_ = 0, blocks_ = 0;
};

} // namespace iio_stream::usb
