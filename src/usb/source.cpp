// SPDX-License-Identifier: MIT
#include "usb/source.hpp"

#include "core/sizing.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::usb {

namespace {

constexpr std::int64_t kFirstBlockNs =
    10'000'000'000;                               ///< between START and the board's first block
constexpr std::int64_t kLastNewsNs = 500'000'000; ///< for events that come with the end

framing::StreamShape shape_from(const framing::PeerInfo& info, const std::string& board,
                                framing::Check check)
{
    if (!info.to_host)
        throw Error(Fault::device, ENODATA, "read from", board, "the board sends nothing",
                    "on the board: iio-stream stream SOURCE ffs:MOUNT");
    framing::require_check(check, *info.to_host, board, kBoardEnd);
    return *info.to_host;
}

} // namespace

UsbSource::UsbSource(UsbSettings settings)
    : settings_(std::move(settings)),
      board_(std::in_place, settings_.choice),
      reconnect_timer_(settings_.reconnect_ns)
{
    shape_ = open(kAppearNs);
    settings_.choice = board().itself().waiting(settings_.choice.wait_ns);
}

// The board's stream, after applying the settings.
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

// The board decides on the blocks.
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
    framing::tell_price(shape_.check, hop);
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
    most_ = std::min(most_in_flight(settings_.transfers, shape_.wire_bytes), pool.count());
    if (!board_) // the last stream ended without it
        open_again(settings_.choice.wait_ns, kAppearNs);
    open_pipe();
    return true;
}

void UsbSource::open_pipe()
{
    bulk_receiver_.emplace(*board_, queue_, shape_.wire_bytes,
                           std::min(settings_.transfer_bytes, shape_.wire_bytes), most_);
    broken_by_.reset();
    event_receiver_.emplace(*board_);
}

void UsbSource::close_pipe() noexcept
{
    event_receiver_.reset();
    bulk_receiver_.reset();
}

// Blocks report losses too; only events say why a stream ended.
void UsbSource::hear_news()
{
    while (const auto news = event_receiver_->take())
        if (news->stream_id == started_.stream_id && news->event == "error")
            broken_by_ = news->text;
}

void UsbSource::fail_broken()
{
    const std::int64_t deadline = sys::after(kLastNewsNs);
    for (hear_news(); !broken_by_ && sys::monotonic_ns() < deadline; hear_news())
        board_->wait_for_events();
    throw Error(Fault::device, EREMOTEIO, "read from", board().name(),
                "its stream ended with an error: " + broken_by_.value_or("it did not say which"));
}

void UsbSource::start()
{
    // In this order: what came while libusb waits for START's answer would wake no one. The board
    // keeps its first header until it is requested.
    started_ = board().start(static_cast<unsigned>(Direction::to_host), cancel_.fd());
    patient_until_ns_ = sys::after(kFirstBlockNs);
    bulk_receiver_->post();
    presence_.back();
}

bool UsbSource::settle()
{
    return sys::monotonic_ns() >= patient_until_ns_;
}

Wait UsbSource::wait()
{
    return board_ ? Wait{board_->fd(), POLLIN} : Wait{-1, 0, reconnect_timer_.next_ns()};
}

void UsbSource::stop() noexcept
{
    cancel_.clear();
    if (board_)
        board().stop(Direction::to_host);
    close_pipe();
    queue_.clear();
    if (std::exchange(rejoining_, false) && sequence_tracker_.begun())
        sequence_tracker_.broken_off(0); // it ends before the board has come back
}

void UsbSource::submit(EmptyBlock block, std::size_t bytes)
try {
    queue_.push({std::move(block), bytes});
    if (started_.stream_id != 0)
        bulk_receiver_->post();
} catch (const Error& error) {
    break_off(error);
}

// Whether to deliver its block: if it differs from what was sent, it is a loss.
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
    // From before START, sent twice, or damaged: not part of this stream.
    bool ours = header.stream_id == started_.stream_id;
    if (ours) {
        join_up(header);
        ours = account(header);
        last_sequence_ = header.sequence;
        last_stream_id_ = header.stream_id;
        patient_until_ns_ = 0;
    }
    bulk_receiver_->release();
    detail::Order order = queue_.pop();
    if (!ours) {
        queue_.push(std::move(order));
        return {};
    }
    Time time{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    if (header.time_ns > 0 && header.time_ns < kClockEndNs)
        time = {Clock::monotonic, header.time_ns + started_.clock_offset_ns,
                started_.uncertainty_ns};
    return {std::move(order.block).fill(sequence_tracker_.next(header, time, false)), false};
}

Taken UsbSource::take()
{
    if (!board_ && !come_back())
        return {};
    try {
        return take_next();
    } catch (const Error& error) {
        break_off(error);
        return {};
    }
}

Taken UsbSource::take_next()
{
    board_->handle_events();
    hear_news();
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

SourceStats UsbSource::stats() const
{
    SourceStats stats;
    stats.error_blocks = check_.failed();
    stats.evidence = framing::evidence_of(shape_.check);
    stats.trailing = sequence_tracker_.left();
    return stats;
}

} // namespace iio_stream::usb
