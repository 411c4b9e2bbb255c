// SPDX-License-Identifier: MIT
#include "usb/host/sink.hpp"

#include "core/format/format_options.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kMostBeginnings = 8; ///< restarts without a block between them
constexpr int kConfirmations = 25, kConfirmMs = 40;
/// Minimum of the timeout, because the board may still be getting ready.
constexpr std::int64_t kLeastNs = 10'000'000'000;

framing::StreamShape shape_to(const framing::PeerInfo& info, const std::string& board,
                              framing::Check check)
{
    if (!info.to_board)
        throw Error(Fault::device, ENODATA, "write to", board, "the board does not accept a stream",
                    "on the board: iio-stream stream ffs:MOUNT format=FORMAT SINK");
    framing::require_checksum(check, *info.to_board, board, kBoardEnd);
    return *info.to_board;
}

} // namespace

UsbSink::UsbSink(UsbSettings settings)
    : settings_(std::move(settings)),
      board_(std::in_place, settings_.choice),
      shape_(shape_to(board().info(kAppearNs), board().name(), settings_.check)),
      reconnect_timer_(settings_.reconnect_ns)
{
    settings_.choice = board().itself().waiting(settings_.choice.wait_ns);
}

std::optional<Hop> UsbSink::plan(const MemoryTraits& traits, std::string&) const
{
    Hop hop;
    hop.mechanism = "usb-bulk";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "usbfs copies into the kernel's buffers";
    framing::add_checksum_cost(shape_.check, hop);
    if (traits.block_size % shape_.wire_bytes != 0)
        hop.reason += "; zeros pad the board's blocks, --block-size " +
                      format_size(shape_.wire_bytes) + " avoids that";
    return hop;
}

bool UsbSink::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string&)
{
    cancel_ = cancel;
    cancel_start_ = stream.cancel_start;
    if (!board_) // the board was gone when the last stream ended
        open_again(settings_.choice.wait_ns, kAppearNs, cancel_start_);
    detail::require_same_layout(stream.format, shape_.format, board().name());
    timeout_ns_ = std::max(stream.timeout_ns, kLeastNs);
    parts_ = (pool.block_size() + shape_.wire_bytes - 1) / shape_.wire_bytes;
    capacity_ = pool.count() * parts_ + 1; // and one for the end
    bulk_sender_.reset();
    bulk_sender_.emplace(
        *board_, shape_.wire_bytes,
        std::min(most_in_flight(settings_.transfers, shape_.wire_bytes), capacity_), capacity_);
    left_.reset(capacity_);
    held_ = beginnings_ = 0;
    sequence_ = next_index_ = 0;
    detects_losses_ = stream.detects_losses;
    end_sent_ = false;
    confirmed_ = true;
    started_ = {};
    return true;
}

void UsbSink::start()
{
    started_ = board().start(static_cast<unsigned>(Direction::to_board), cancel_start_);
    progress_ns_ = sys::monotonic_ns();
    connection_.restored();
}

// Call in a catch block.
void UsbSink::break_off(const Error& error)
{
    if (end_sent_)
        throw;
    reconnect_timer_.begin(error);
    close_board();
    connection_.lost();
}

void UsbSink::close_board() noexcept
{
    if (board_)
        bulk_sender_->take_back();
    board_.reset();
}

bool UsbSink::try_reconnect()
try {
    if (!reconnect_timer_.is_time())
        return false;
    reconnect_timer_.note_attempt();
    open_again(0, 0, cancel_);
    started_ = board().start(kStartAgain, cancel_);
    progress_ns_ = sys::monotonic_ns();
    connection_.restored();
    return true;
} catch (const Error& error) {
    close_board();
    reconnect_timer_.failed(error, settings_.choice.text());
    return false;
}

// The board must accept the same kind of blocks as before, because the queued headers and blocks
// are made for it.
void UsbSink::open_again(std::int64_t wait_ns, std::int64_t patience_ns, int cancel)
try {
    board_.emplace(settings_.choice.waiting(wait_ns), cancel);
    const framing::PeerInfo info = board().info(patience_ns, cancel);
    framing::check_same_shape(shape_to(info, board().name(), settings_.check), shape_,
                              board().name());
} catch (const Error&) {
    board_.reset();
    throw;
}

void UsbSink::submit(Block filled)
{
    const std::size_t sample = shape_.format.sample_bytes;
    const std::uint64_t samples = filled.bytes() / sample, most = shape_.wire_bytes / sample;
    if (held_ == 0)
        progress_ns_ = sys::monotonic_ns();
    std::size_t parts = 0;
    for (std::uint64_t first = 0; first < samples; first += most, ++parts) {
        Block part = filled.slice(first, std::min(most, samples - first), sample);
        framing::Header header = framing::describe(part, shape_.wire_bytes);
        if (sequence_ == 0 && !detects_losses_)
            header.loss = framing::merged(header.loss, framing::kUndetectedLosses);
        header.sequence = sequence_++;
        if (shape_.check != framing::Check::none)
            header.checksum = framing::checksum_of(part);
        next_index_ = header.sample_index + part.bytes() / sample;
        bulk_sender_->push(std::move(part), header);
    }
    left_.push(parts);
    ++held_;
    if (!board_)
        return; // until the board has come back
    try {
        bulk_sender_->post(started_.stream_id);
    } catch (const Error& error) {
        break_off(error);
    }
}

void UsbSink::remove_sent()
{
    for (;;) {
        switch (bulk_sender_->front()) {
        case BulkSender::Front::waiting:
            return;
        case BulkSender::Front::failed:
            return begin_again();
        case BulkSender::Front::sent:
            bulk_sender_->pop();
            beginnings_ = 0;
            progress_ns_ = sys::monotonic_ns();
            if (!left_.empty() && --left_.front() == 0) {
                (void)left_.pop();
                --held_;
            }
        }
    }
}

// Called when the board has halted its endpoint, or when a transfer has failed.
void UsbSink::begin_again()
{
    if (++beginnings_ > kMostBeginnings)
        throw Error(Fault::device, EPIPE, "write to", board().name(),
                    "the board has halted the stream " + std::to_string(kMostBeginnings) +
                        " times without accepting a block");
    bulk_sender_->take_back();
    try {
        board().clear_halt(board().samples_out());
        started_ = board().start(kStartAgain, cancel_);
    } catch (const Error&) {
        bulk_sender_->fail_disconnected();
    }
}

void UsbSink::service()
{
    if (!board_ && !try_reconnect())
        return;
    try {
        continue_sending();
    } catch (const Error& error) {
        break_off(error);
    }
}

void UsbSink::continue_sending()
{
    board_->handle_events();
    remove_sent();
    bulk_sender_->post(started_.stream_id);
    if (bulk_sender_->size() != 0 && sys::monotonic_ns() >= progress_ns_ + timeout_ns_)
        throw Error(Fault::device, ETIMEDOUT, "write to", board().name(),
                    "the board took nothing for " + std::to_string(timeout_ns_ / 1'000'000) + " ms",
                    "a longer --timeout gives its sink more time");
}

// Waits until everything is sent. Returns false if it is cancelled.
bool UsbSink::flush_out()
{
    progress_ns_ = sys::monotonic_ns();
    service();
    while (bulk_sender_->size() != 0) {
        pollfd fds[] = {{board_ ? board_->fd() : -1, POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)::poll(fds, 2, 50);
        if (fds[1].revents != 0)
            return false; // the caller that cancelled reports it
        service();
    }
    return true;
}

// Waits until the board's program has received the end, because a completed transfer has reached
// only the board's controller.
bool UsbSink::await_confirmation()
{
    for (int i = 0; i < kConfirmations; ++i) {
        if (board().has_ended())
            return true;
        (void)::poll(nullptr, 0, kConfirmMs);
    }
    return false;
}

// Sends the end, and sends it again if a block before it has failed on the board. The sample index
// in the end's header shows the loss.
void UsbSink::send_end(const StreamEnd& stream_end)
{
    framing::Header end;
    end.flags = framing::Header::end | (stream_end.error ? framing::Header::broken : 0U);
    end.sequence = sequence_;
    end.sample_index = next_index_;
    end.loss = framing::merge_trailing(stream_end.gaps);
    for (std::size_t tries = 0; tries < kMostBeginnings; ++tries) {
        bulk_sender_->push(std::nullopt, end);
        if (!flush_out())
            return;
        end_sent_ = true;
        if (await_confirmation())
            return;
        end_sent_ = false;
        begin_again();
    }
    throw Error(Fault::device, EPIPE, "end the stream to", board().name(),
                "the board does not confirm it");
}

void UsbSink::stop(Stop how, const StreamEnd& end)
{
    if (!bulk_sender_)
        return;
    const bool began = started_.stream_id != 0;
    try {
        if (how == Stop::drain && began && held_ == 0)
            send_end(end);
    } catch (const Error& error) {
        bulk_sender_.reset();
        if (error.code().value() != ENODEV)
            throw;
        confirmed_ = end_sent_;
        return; // a board with a limited stream can end first; its controller has everything
    }
    const bool ended = bulk_sender_->size() == 0 && how == Stop::drain;
    bulk_sender_.reset();
    held_ = 0;
    left_.clear();
    if (began && !ended && board_)
        board().stop(Direction::to_board);
}

SinkResult UsbSink::result() const
{
    if (confirmed_)
        return {};
    return {.remark = "the board went away before it had received the end: its own summary shows "
                      "whether the last blocks arrived"};
}

} // namespace iio_stream::usb
