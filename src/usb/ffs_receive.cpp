// SPDX-License-Identifier: MIT
// The hot path of ffs: as a source, and how it reacts to the cable and the host.
#include "iio_stream/error.hpp"
#include "sys/functionfs.hpp"
#include "usb/ffs_source.hpp"

#include <cerrno>
#include <exception>
#include <utility>

namespace iio_stream::usb {

// Keeps what is complete; the host has to start again.
void FfsSource::break_off() noexcept
{
    streaming_ = false;
    severed_ = under_way_;
    close_inlet();
}

// A host that had nothing in flight in between, and continues, does not know that it has to start
// again.
void FfsSource::on_enable()
{
    if (streaming_)
        on_disable(); // the kernel forgets an unread DISABLE at the next ENABLE
    if (std::exchange(cut_, false))
        refuse_more();
}

void FfsSource::on_disable()
{
    look();
    cut_ = cut_ || streaming_;
    break_off();
}

// A TRANSFER that fails, or that the end of the cable completes, before its fence is exported looks
// like one that finished as quickly, and its block has its old content. What the host sends next
// decides: its next header is in its place only if the block has taken its own bytes.
void FfsSource::confirm()
{
    const std::size_t next = whole_ + 1;
    if (next == asked_ && !ahead_)
        return;
    const EndpointReceiver::Head head =
        receiver_->head(next < asked_ ? blocks_.at(next).number : number_);
    if (!head.ended || is_endpoints(head.error))
        return;
    const auto header = expected(head.bytes);
    if (!header) {
        doubtful_ = false;
        ++failed_;
        return halt();
    }
    if (header->sample_index > blocks_.at(whole_).arrived->header.sample_index) {
        doubtful_ = false;
        ++whole_;
    } else {
        drop_doubtful();
    }
}

// The host sends it again, so it is not what came: it goes after those that are requested.
void FfsSource::drop_doubtful() noexcept
{
    (void)forget(blocks_.at(whole_));
    for (std::size_t i = whole_ + 1; i < asked_; ++i)
        std::swap(blocks_.at(i - 1), blocks_.at(i));
    --asked_;
    doubtful_ = false;
}

void FfsSource::on_stop()
{
    look();
    doubtful_ = false;
    break_off();
}

bool FfsSource::has_ended()
{
    look();
    return end_.has_value();
}

// The host gets its answer after this returns: nothing of its new stream gets into what an earlier
// one began to fill. FunctionFS does not say how much of a DMABUF has come.
void FfsSource::on_start(std::uint32_t stream_id, bool again)
{
    look();
    if (end_)
        return;                     // this stream is over, and the function goes soon
    doubtful_ = doubtful_ && again; // a host that continues shows what it has sent
    break_off();
    if (!again && std::exchange(under_way_, false))
        lost_ = lost_.value_or(0) + interrupted_;
    new_stream_ = new_stream_ || !again || stream_id_ == 0;
    severed_ = false;
    interrupted_ = 0;
    stream_id_ = stream_id;
    streaming_ = true;
    heard_ns_ = sys::monotonic_ns();
}

// Out of step: notifies the host by STALL, and it resends what did not get through.
void FfsSource::halt() noexcept
{
    ++halts_;
    break_off();
    refuse_more();
}

void FfsSource::refuse_more() noexcept
try {
    if (function_->enabled())
        sys::ffs_halt_out(sys::ffs_open_endpoint(endpoint_path()).get());
} catch (const std::exception&) { // the host waits until its deadline
}

// The header if it is one of this stream's.
std::optional<framing::Header> FfsSource::expected(std::span<const std::byte> bytes) const noexcept
{
    const auto header = framing::Header::decode(bytes);
    const bool end = header && (header->flags & framing::Header::end) != 0;
    if (!header || header->stream_id != stream_id_ ||
        (!end && header->wire_bytes != pool_->block_size()) ||
        header->valid_bytes % format_.sample_bytes != 0)
        return std::nullopt;
    return header;
}

std::optional<FfsSource::Arrived> FfsSource::accept(std::span<const std::byte> bytes)
{
    const auto header = expected(bytes);
    if (!header)
        return std::nullopt;
    heard_ns_ = sys::monotonic_ns();
    under_way_ = (header->flags & framing::Header::end) == 0;
    return Arrived{*header, std::exchange(new_stream_, false), std::exchange(lost_, std::nullopt)};
}

// Whether it has come.
bool FfsSource::look_at(Asked& asked)
{
    if (!asked.arrived) {
        const EndpointReceiver::Head head = receiver_->head(asked.number);
        if (!head.ended || is_endpoints(head.error))
            return false;
        asked.arrived = accept(head.bytes);
        if (!asked.arrived) {
            halt();
            return false;
        }
        if ((asked.arrived->header.flags & framing::Header::end) != 0) {
            end_ = std::exchange(asked.arrived, std::nullopt);
            return false;
        }
    }
    const Transferred done = receiver_->body(asked.number);
    if (!done.ended || is_endpoints(done.error))
        return false;
    if (done.error != 0) {
        ++failed_;
        halt();
        return false;
    }
    asked.unverified = done.unverified;
    return true;
}

void FfsSource::look()
{
    if (receiver_)
        receiver_->take();
    while (receiver_ && !end_) {
        if (doubtful_)
            confirm();
        if (doubtful_ || !receiver_ || whole_ >= asked_ || !look_at(blocks_.at(whole_)))
            return;
        doubtful_ = blocks_.at(whole_).unverified;
        whole_ += doubtful_ ? 0 : 1;
    }
}

void FfsSource::begin(const Arrived& arrived)
{
    if (arrived.lost)
        sequence_tracker_.broken_off(*arrived.lost);
    if (arrived.new_stream)
        sequence_tracker_.expect(0);
}

// Whether to deliver it. The host considers a block that came as sent: if it has other bytes, that
// is a loss.
bool FfsSource::account(const Asked& asked)
{
    const framing::Header& header = asked.arrived->header;
    begin(*asked.arrived);
    if (check_.passes(header, asked.block, endpoint_path()))
        return sequence_tracker_.account(header);
    sequence_tracker_.damaged(header);
    return false;
}

// The front block; nullopt if it came twice, or differs from what was sent.
std::optional<Block> FfsSource::deliver()
{
    unwatch(); // its fence's fd number may be reused
    Asked asked = blocks_.pop();
    --whole_;
    --asked_;
    if (!account(asked)) {
        blocks_.push({std::move(asked.block)});
        return std::nullopt;
    }
    ++blocks_taken_;
    unverified_ += asked.unverified ? 1 : 0;
    const Time now{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    return std::move(asked.block)
        .fill(sequence_tracker_.next(asked.arrived->header, now, asked.unverified));
}

Taken FfsSource::take()
{
    const Turn turn = function_->turn();
    hear();
    look();
    Taken taken;
    while (whole_ != 0 && !taken.filled)
        taken.filled = deliver();
    if (!taken.filled && end_) {
        begin(*end_);
        (void)sequence_tracker_.account(end_->header);
        if ((end_->header.flags & framing::Header::broken) != 0)
            throw Error(Fault::device, EREMOTEIO, "read from", endpoint_path(),
                        "the host's stream ended with an error");
        taken.ended = true;
    }
    ask_all();
    return taken;
}

Wait FfsSource::wait()
{
    const Turn turn = function_->turn();
    const bool filling = receiver_ && !doubtful_ && whole_ < asked_ && blocks_.at(whole_).arrived;
    Wait wait = wait_for_fence(filling ? receiver_->fence(blocks_.at(whole_).number) : -1);
    wait.ready = whole_ != 0 || end_;
    return wait;
}

void FfsSource::ask_all()
{
    const auto possible = [this] {
        return running_ && streaming_ && !end_ && function_->enabled();
    };
    while (possible() && (asked_ < blocks_.size() || wants_header())) {
        if (!receiver_ && !open_inlet())
            return check_refused();
        if (asked_ - whole_ >= receiver_->most() && !wants_header())
            return;
        if (!std::exchange(ahead_, true))
            receiver_->ask_header(number_);
        if (asked_ == blocks_.size())
            return;
        hear();
        if (!receiver_)
            continue; // lost with its header
        if (!possible())
            return;
        Asked& next = blocks_.at(asked_);
        next.number = number_++;
        ahead_ = false;
        if (receiver_->ask_block(next.number, next.block) != 0)
            return close_inlet(); // DISABLE is to come
        ++asked_;
    }
}

// If a block waits for the next header and there is none to request with it.
bool FfsSource::wants_header() const noexcept
{
    return doubtful_ && asked_ == whole_ + 1 && !ahead_;
}

} // namespace iio_stream::usb
