// SPDX-License-Identifier: MIT
#include "usb/host/source.hpp"

#include "core/base/align.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kFirstBlockNs =
    10'000'000'000; ///< between START and the board's first block
/// How long to wait for events that come with the end.
constexpr std::int64_t kLastEventNs = 500'000'000;

framing::StreamShape shape_from(const framing::PeerInfo& info, const std::string& board,
                                framing::Check check)
{
    if (!info.to_host)
        throw Error(Fault::device, ENODATA, "read from", board, "the board does not send a stream",
                    "on the board: iio-stream stream SOURCE ffs:MOUNT");
    framing::require_checksum(check, *info.to_host, board, kBoardEnd);
    return *info.to_host;
}

/// A board's program numbers its streams from its start time in ms, so the numbers of two programs
/// differ by more than this.
constexpr std::uint32_t kStreams = 500;

} // namespace

UsbSource::UsbSource(UsbSettings settings)
    : settings_(std::move(settings)),
      board_(std::in_place, settings_.choice),
      reconnect_timer_(settings_.reconnect_ns)
{
    shape_ = open(kAppearNs);
    settings_.choice = board().itself().waiting(settings_.choice.wait_ns);
}

// The board determines the size of the blocks.
BlockNeeds UsbSource::needs() const
{
    BlockNeeds needs;
    needs.align = detail::round_up(shape_.wire_bytes, shape_.format.sample_bytes);
    needs.max_bytes = needs.align;
    return needs;
}

std::optional<Hop> UsbSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "usb-bulk";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "usbfs copies out of the kernel's buffers";
    framing::add_checksum_cost(shape_.check, hop);
    return hop;
}

bool UsbSource::prepare(BlockPool& pool, std::string&)
{
    close_pipe();
    queue_.reset(pool.count());
    sequence_tracker_.reset(shape_.format.sample_bytes);
    check_.reset(shape_.check);
    started_ = {};
    rejoining_ = false;
    rest_.reset();
    most_ = std::min(most_in_flight(settings_.transfers, shape_.wire_bytes), pool.count());
    if (!board_) // the board was gone when the last stream ended
        open_again(settings_.choice.wait_ns, kAppearNs);
    open_pipe();
    return true;
}

void UsbSource::start()
{
    // START comes before post(), because data that arrives while libusb waits for START's answer
    // would not wake this source. The board keeps its first header until post() requests it.
    started_ = board().start(static_cast<unsigned>(Direction::to_host), cancel_.fd());
    patient_until_ns_ = sys::after(kFirstBlockNs);
    bulk_receiver_->post();
    connection_.restored();
}

void UsbSource::stop() noexcept
{
    cancel_.clear();
    if (board_)
        board().stop(Direction::to_host);
    close_pipe();
    queue_.clear();
    if (std::exchange(rejoining_, false) && sequence_tracker_.begun())
        sequence_tracker_.broken_off(0); // the stream ends before the board has come back
}

void UsbSource::submit(EmptyBlock block, std::size_t bytes)
try {
    queue_.push({std::move(block), bytes});
    if (started_.stream_id != 0)
        bulk_receiver_->post();
} catch (const Error& error) {
    break_off(error);
}

Taken UsbSource::take()
{
    if (rest_.is_wanted())
        return rest_.take([this] { return take_next(); }, [this] { return take_part(); });
    if (!board_ && !try_reconnect())
        return {};
    try {
        return take_next();
    } catch (const Error& error) {
        break_off(error);
        return {};
    }
}

Wait UsbSource::wait()
{
    return board_ ? Wait{board_->fd(), POLLIN} : Wait{-1, 0, reconnect_timer_.next_ns()};
}

bool UsbSource::on_timeout(std::optional<std::chrono::nanoseconds>)
{
    return sys::monotonic_ns() >= patient_until_ns_;
}

SourceStats UsbSource::stats() const
{
    SourceStats stats;
    stats.error_blocks = check_.failed();
    stats.evidence = framing::evidence_of(shape_.check);
    stats.trailing = sequence_tracker_.left();
    return stats;
}

// Applies the settings, and returns the board's stream.
framing::StreamShape UsbSource::open(std::int64_t patience_ns)
{
    const auto ask = [&] {
        return shape_from(board().info(patience_ns, cancel_.fd()), board().name(), settings_.check);
    };
    framing::StreamShape shape = ask();
    for (const auto& [name, value] : settings_.changes) {
        const auto found = std::find(shape.attributes.begin(), shape.attributes.end(), name);
        if (found == shape.attributes.end())
            fail_usage(name + "=" + value + ": " + board().name() + " does not allow it",
                       "on the board: ffs:MOUNT allow=" + name);
        (void)board().set_attribute(static_cast<std::size_t>(found - shape.attributes.begin()),
                                    name, value, cancel_.fd());
    }
    return settings_.changes.empty() ? shape : ask();
}

// The board must send the same kind of blocks as before, because the pool is made for them.
void UsbSource::open_again(std::int64_t wait_ns, std::int64_t patience_ns)
try {
    board_.emplace(settings_.choice.waiting(wait_ns), cancel_.fd());
    framing::check_same_shape(open(patience_ns), shape_, board().name());
} catch (const Error&) {
    board_.reset();
    throw;
}

void UsbSource::open_pipe()
{
    bulk_receiver_.emplace(*board_, queue_, shape_.wire_bytes,
                           std::min(settings_.transfer_bytes, shape_.wire_bytes), most_);
    stream_error_.reset();
    event_receiver_.emplace(*board_);
}

void UsbSource::close_pipe() noexcept
{
    event_receiver_.reset();
    bulk_receiver_.reset();
}

// Headers report losses, too, but only events report why a stream ended.
void UsbSource::read_events()
{
    while (const auto event = event_receiver_->take())
        if (event->stream_id == started_.stream_id && event->event == "error")
            stream_error_ = event->text;
}

void UsbSource::fail_broken()
{
    const std::int64_t deadline = sys::after(kLastEventNs);
    for (read_events(); !stream_error_ && sys::monotonic_ns() < deadline; read_events())
        board_->wait_for_events();
    throw Error(Fault::device, EREMOTEIO, "read from", board().name(),
                "its stream ended with an error: " +
                    stream_error_.value_or("the board did not report which"));
}

Taken UsbSource::take_next()
{
    board_->handle_events();
    read_events();
    for (;;) {
        const BulkReceiver::Found found = bulk_receiver_->take();
        if (found == BulkReceiver::Found::nothing)
            return {};
        const framing::Header header = bulk_receiver_->header();
        if (found == BulkReceiver::Found::end) {
            join_up(header);
            (void)sequence_tracker_.account(header);
            if ((header.flags & framing::Header::broken) != 0)
                fail_broken();
            return {std::nullopt, true};
        }
        Taken taken = deliver(header);
        bulk_receiver_->post();
        if (taken.filled)
            return taken;
    }
}

// Returns whether to deliver the block of this header. A block that differs from the one sent is a
// loss.
bool UsbSource::account(const framing::Header& header)
{
    if (check_.passes(header, queue_.front().block, board().name()))
        return sequence_tracker_.account(header);
    sequence_tracker_.damaged(header);
    return false;
}

Taken UsbSource::deliver(const framing::Header& header)
{
    const std::size_t sample = shape_.format.sample_bytes;
    if (header.valid_bytes % sample != 0)
        throw Error(Fault::device, EPROTO, "read from", board().name(),
                    "a block of " + std::to_string(header.valid_bytes) +
                        " bytes is not a whole number of samples");
    // A block from before START, one that arrives twice, or a damaged one is not part of this
    // stream.
    bool ours = header.stream_id == started_.stream_id;
    if (ours) {
        join_up(header);
        ours = account(header);
        last_sequence_ = header.sequence;
        last_stream_id_ = header.stream_id;
        patient_until_ns_ = 0;
    }
    bulk_receiver_->release();
    detail::FillRequest order = queue_.pop();
    if (!ours) {
        queue_.push(std::move(order));
        return {};
    }
    return {std::move(order.block).fill(sequence_tracker_.next(header, time_of(header), false)),
            false};
}

// Returns the time at which the last sample of the header's block was complete, on this machine's
// clock or in UTC.
Time UsbSource::time_of(const framing::Header& header) const noexcept
{
    return framing::time_of(header, started_.clock_offset_ns, started_.uncertainty_ns);
}

std::optional<Block> UsbSource::take_part()
{
    const std::size_t come = bulk_receiver_->take_part();
    if (come == 0 || bulk_receiver_->header().stream_id != started_.stream_id)
        return std::nullopt;
    const framing::Header part =
        framing::first_part(bulk_receiver_->header(), come, shape_.format.sample_bytes);
    join_up(part);
    if (part.valid_bytes == 0 || !sequence_tracker_.account(part))
        return std::nullopt;
    detail::FillRequest order = queue_.pop();
    return std::move(order.block).fill(sequence_tracker_.next(part, time_of(part), false));
}

// The blocks stay queued until the board is back.
void UsbSource::close_board() noexcept
{
    close_pipe();
    board_.reset();
    started_ = {};
}

// Call in a catch block.
void UsbSource::break_off(const Error& error)
{
    rest_.broken_by(error);
    reconnect_timer_.begin(error);
    close_board();
    rejoining_ = true;
    connection_.lost();
}

bool UsbSource::try_reconnect()
try {
    reconnect_timer_.note_attempt();
    open_again(0, 0);
    open_pipe();
    start();
    return true;
} catch (const Error& error) {
    close_board();
    reconnect_timer_.failed(error, settings_.choice.text());
    return false;
}

// Handles the first header after a break. If the board still runs the same program, that program
// has kept counting, and the sample index shows how many samples are missing. If it runs another
// program, the size of the loss is unknown.
void UsbSource::join_up(const framing::Header& header)
{
    if (!std::exchange(rejoining_, false) || !sequence_tracker_.begun())
        return;
    if (header.sequence > last_sequence_ && header.stream_id - last_stream_id_ < kStreams)
        return;
    sequence_tracker_.broken_off(1);
    sequence_tracker_.expect(header.sample_index);
}

} // namespace iio_stream::usb
