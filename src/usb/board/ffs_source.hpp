// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/fill_request.hpp"
#include "framing/sequence_tracker.hpp"
#include "usb/board/endpoint_receiver.hpp"
#include "usb/board/ffs_end.hpp"

#include <memory>
#include <optional>

namespace iio_stream::usb {

/// Receives a USB host's stream through FunctionFS: the controller fills the pipeline's DMABUFs, or
/// read() copies. The command line states the format, which the host must use. If a host disappears
/// without notice, the source waits for the next one, which starts a new stream. The first host
/// that ends its stream ends this stream, too.
/// Owns: the endpoint's file and its attachments.
class FfsSource final : public Source, private FfsEnd {
public:
    FfsSource(FfsSettings settings, Format format)
        : FfsEnd(std::move(settings), Direction::to_board), format_(std::move(format))
    {}
    ~FfsSource() override;

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return format_; }
    BlockNeeds needs() const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return plan_hop(traits, why);
    }
    bool prepare(BlockPool& pool, std::string& why) override;
    void cancel() noexcept override { cancel_.set(); }
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override;
    Taken take() override;
    bool flush() override { return true; } ///< only whole blocks are delivered
    Wait wait() override;
    std::size_t pending() const noexcept override { return blocks_.size(); }
    bool on_timeout(std::optional<std::chrono::nanoseconds> chosen) override;
    SourceStats stats() const override;

private:
    void on_enable() override;
    void on_disable() override;
    void on_unbind() override { close_receiver(); }
    void on_start(std::uint32_t stream_id, bool again) override;
    void on_stop() override;
    bool has_ended() override;
    std::string stats_json() const override;

    /// A header that has arrived.
    struct Arrived {
        framing::Header header;
        bool new_stream = false; ///< the first header of a stream that does not continue another
        std::optional<std::uint64_t> lost{}; ///< samples lost before it, at least; empty: none
    };
    struct Asked {
        EmptyBlock block;
        std::uint64_t number = 0; ///< consecutive number of the request
        std::optional<Arrived> arrived{};
        bool unverified = false;
    };

    bool open_receiver();
    void close_receiver() noexcept;
    void ask_all();
    void poll_blocks();
    void confirm();
    void drop_doubtful() noexcept;
    std::uint64_t forget(Asked& asked) noexcept;
    bool wants_header() const noexcept;
    bool poll_block(Asked& asked);
    std::optional<framing::Header> expected(std::span<const std::byte> bytes) const noexcept;
    std::optional<Arrived> accept(std::span<const std::byte> bytes);
    void break_off() noexcept;
    void halt() noexcept;
    void refuse_more() noexcept;
    void begin(const Arrived& arrived);
    bool account(const Asked& asked);
    std::optional<Block> deliver();

    Format format_;
    BlockPool* pool_ = nullptr;
    sys::Event cancel_;
    bool dmabuf_ = false;
    bool running_ = false;   ///< from start() to stop()
    bool streaming_ = false; ///< the host has sent START, and no STOP or invalid data since
    bool cut_ = false;       ///< the configuration was lost during a stream, and is not back yet
    std::uint32_t stream_id_ = 0;
    std::unique_ptr<EndpointReceiver> receiver_;
    detail::Fifo<Asked> blocks_; ///< in the order in which they are filled
    /// Complete and requested blocks, from the front; asked_ includes whole_.
    std::size_t whole_ = 0, asked_ = 0;
    bool doubtful_ = false; ///< the next block may have arrived, but its status is lost
    std::uint64_t number_ = 0;
    bool ahead_ = false;         ///< header number_ has been requested, but not its block
    std::optional<Arrived> end_; ///< end of the stream, after the complete blocks

    framing::SequenceTracker sequence_tracker_;
    bool under_way_ = false;            ///< part of the host's stream has arrived, but not its end
    bool severed_ = false;              ///< that stream was broken off, and none has begun since
    bool new_stream_ = false;           ///< the next header starts a stream
    std::uint64_t interrupted_ = 0;     ///< samples of the block in flight when it was broken off
    std::optional<std::uint64_t> lost_; ///< samples lost in streams that were broken off, at least
    std::int64_t last_block_ns_ = 0;    ///< time of the last block, or when the wait began
    framing::BlockCheck check_;
    std::uint64_t blocks_taken_ = 0, failed_ = 0, unverified_ = 0, halts_ = 0;
};

} // namespace iio_stream::usb
