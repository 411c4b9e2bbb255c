// SPDX-License-Identifier: MIT
#include "usb/board/ffs_source.hpp"

#include "iio_stream/error.hpp"
#include "sys/device/functionfs.hpp"

#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

FfsSource::~FfsSource()
{
    if (!joined_)
        return;
    Turn turn = function_->turn();
    close_receiver();
    leave(turn);
}

BlockNeeds FfsSource::needs() const
{
    BlockNeeds needs;
    needs.align = framing::kPacketBytes;
    return needs;
}

bool FfsSource::prepare(BlockPool& pool, std::string& why)
{
    Turn turn = function_->turn();
    close_receiver();
    pool_ = &pool;
    blocks_.reset(pool.count());
    whole_ = asked_ = 0;
    doubtful_ = false;
    end_.reset();
    sequence_tracker_.reset(format_.sample_bytes);
    under_way_ = severed_ = false;
    interrupted_ = 0;
    lost_.reset();
    blocks_taken_ = failed_ = unverified_ = halts_ = 0;
    check_.reset(settings_.check);
    dmabuf_ = wants_dmabufs(pool.traits());
    fresh_ = true;
    if (!joined_) {
        streaming_ = new_stream_ = cut_ = false;
        stream_id_ = 0;
    }
    join({format_, pool.block_size(), "", {}, {}, settings_.check}, turn);
    const bool accepted =
        await_enable(turn, cancel_.fd(), [this] { return receiver_ || open_receiver(); });
    why = !accepted ? refusal_ : dmabuf_ ? detail::dma_reach_remark(pool) : "";
    cancel_.clear();
    return accepted;
}

// Blocks are requested only from here on, because until now a sink could still refuse their memory.
void FfsSource::start()
{
    const Turn turn = function_->turn();
    running_ = true;
    last_block_ns_ = sys::monotonic_ns();
    poll_ep0();
    ask_all();
}

void FfsSource::stop() noexcept
{
    Turn turn = function_->turn();
    cancel_.clear();
    doubtful_ = false;
    close_receiver();
    if (severed_ || lost_)
        sequence_tracker_.broken_off(lost_.value_or(0) + (severed_ ? interrupted_ : 0));
    severed_ = false;
    lost_.reset();
    blocks_.clear();
    whole_ = asked_ = 0;
    if (!std::exchange(running_, false))
        return;    // an endpoint has refused this plan, and the engine tries another
    refuse_more(); // the function may stay open for its other direction
    leave(turn);
}

void FfsSource::submit(EmptyBlock block, std::size_t)
{
    const Turn turn = function_->turn();
    blocks_.push({std::move(block)});
    ask_all();
}

Taken FfsSource::take()
{
    const Turn turn = function_->turn();
    poll_ep0();
    poll_blocks();
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

// A host can pause without limit, unless wait= is given.
bool FfsSource::on_timeout(std::optional<std::chrono::nanoseconds>)
{
    const Turn turn = function_->turn();
    check_patience(last_block_ns_, streaming_ ? "the program on the host has stopped sending"
                                              : "no program on the host has begun to send");
    return false;
}

SourceStats FfsSource::stats() const
{
    const Turn turn = function_->turn();
    SourceStats stats;
    stats.error_blocks = failed_ + check_.failed();
    stats.unverified_blocks = unverified_;
    stats.evidence = framing::evidence_of(settings_.check);
    stats.trailing = sequence_tracker_.left();
    return stats;
}

// After an interruption, halts the endpoint: a host that had nothing in flight and continues would
// otherwise not notice that it has to start again.
void FfsSource::on_enable()
{
    if (streaming_)
        on_disable(); // the kernel discards an unread DISABLE at the next ENABLE
    if (std::exchange(cut_, false))
        refuse_more();
}

void FfsSource::on_disable()
{
    poll_blocks();
    cut_ = cut_ || streaming_;
    break_off();
}

// Keeps the blocks that have arrived. The others are requested again, if at all.
void FfsSource::close_receiver() noexcept
{
    if (receiver_) {
        unwatch();
        group_->remove(receiver_->fd());
        receiver_.reset();
    }
    const std::size_t come = whole_ + (doubtful_ ? 1 : 0);
    for (std::size_t i = come; i < asked_; ++i)
        interrupted_ += forget(blocks_.at(i));
    asked_ = come;
    ahead_ = false;
}

// The host gets its answer after this function returns, so no data of its new stream gets into
// blocks that an earlier stream began to fill. FunctionFS does not report how much of a DMABUF has
// arrived.
void FfsSource::on_start(std::uint32_t stream_id, bool again)
{
    poll_blocks();
    if (end_)
        return;                     // this stream is over, and the function is about to disappear
    doubtful_ = doubtful_ && again; // if the host continues, its next header decides
    break_off();
    if (!again && std::exchange(under_way_, false))
        lost_ = lost_.value_or(0) + interrupted_;
    new_stream_ = new_stream_ || !again || stream_id_ == 0;
    severed_ = false;
    interrupted_ = 0;
    stream_id_ = stream_id;
    streaming_ = true;
    last_block_ns_ = sys::monotonic_ns();
}

void FfsSource::on_stop()
{
    poll_blocks();
    doubtful_ = false;
    break_off();
}

bool FfsSource::has_ended()
{
    poll_blocks();
    return end_.has_value();
}

std::string FfsSource::stats_json() const
{
    return nlohmann::json{
        {"blocks", blocks_taken_}, {"failed_blocks", failed_ + check_.failed()}, {"halts", halts_}}
        .dump();
}

// Returns false if the controller refuses DMABUFs or if events of ep0 have to be handled first.
bool FfsSource::open_receiver()
{
    if (dmabuf_) {
        int error = 0;
        receiver_ =
            EndpointReceiver::by_dmabuf(endpoint_path(), *pool_, function_->fd(), fresh_, error);
        if (!receiver_ && error != EAGAIN)
            refused(error, pool_->traits().memory);
        if (!receiver_)
            return false;
        fresh_ = false;
    } else {
        receiver_ = EndpointReceiver::by_read(endpoint_path(), pool_->block_size());
    }
    group_->add(receiver_->fd(), POLLIN);
    return true;
}

void FfsSource::ask_all()
{
    const auto possible = [this] {
        return running_ && streaming_ && !end_ && function_->enabled();
    };
    while (possible() && (asked_ < blocks_.size() || wants_header())) {
        if (!receiver_ && !open_receiver())
            return check_refused();
        if (asked_ - whole_ >= receiver_->most() && !wants_header())
            return;
        if (!std::exchange(ahead_, true))
            receiver_->ask_header(number_);
        if (asked_ == blocks_.size())
            return;
        poll_ep0();
        if (!receiver_)
            continue; // an event has closed the receiver, and the requested header is lost
        if (!possible())
            return;
        Asked& next = blocks_.at(asked_);
        next.number = number_++;
        ahead_ = false;
        if (receiver_->ask_block(next.number, next.block) != 0)
            return close_receiver(); // DISABLE follows
        ++asked_;
    }
}

void FfsSource::poll_blocks()
{
    if (receiver_)
        receiver_->take();
    while (receiver_ && !end_) {
        if (doubtful_)
            confirm();
        if (doubtful_ || !receiver_ || whole_ >= asked_ || !poll_block(blocks_.at(whole_)))
            return;
        doubtful_ = blocks_.at(whole_).unverified;
        whole_ += doubtful_ ? 0 : 1;
    }
}

// Determines whether the doubtful block has arrived. If a TRANSFER ends before its fence is
// exported, its status is lost. A TRANSFER that has failed, or that a disconnected cable has
// completed, then looks like a successful one, although its block still has its old content. The
// next header distinguishes the two: it is the header of a later block only if the doubtful block
// has received its own bytes.
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

// The host sends the doubtful block again, so the buffer that was requested for it has not received
// it. Moves this buffer behind the buffers that are already requested.
void FfsSource::drop_doubtful() noexcept
{
    (void)forget(blocks_.at(whole_));
    for (std::size_t i = whole_ + 1; i < asked_; ++i)
        std::swap(blocks_.at(i - 1), blocks_.at(i));
    --asked_;
    doubtful_ = false;
}

// Discards the header of a request, and keeps the losses before it for the next header. Returns the
// number of samples of its block; 0 if the header has not arrived.
std::uint64_t FfsSource::forget(Asked& asked) noexcept
{
    const auto arrived = std::exchange(asked.arrived, std::nullopt);
    if (!arrived)
        return 0;
    new_stream_ = new_stream_ || arrived->new_stream;
    if (arrived->lost)
        lost_ = lost_.value_or(0) + *arrived->lost;
    return arrived->header.valid_bytes / format_.sample_bytes;
}

// Returns whether a doubtful block waits for the next header, but no buffer is left that could be
// requested together with that header.
bool FfsSource::wants_header() const noexcept
{
    return doubtful_ && asked_ == whole_ + 1 && !ahead_;
}

// Returns whether the block has arrived.
bool FfsSource::poll_block(Asked& asked)
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

// Returns the header if it belongs to this stream.
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
    last_block_ns_ = sys::monotonic_ns();
    under_way_ = (header->flags & framing::Header::end) == 0;
    return Arrived{*header, std::exchange(new_stream_, false), std::exchange(lost_, std::nullopt)};
}

// Keeps the complete blocks. The host has to start again.
void FfsSource::break_off() noexcept
{
    streaming_ = false;
    severed_ = under_way_;
    close_receiver();
}

// Call when out of step with the host. Halts the endpoint; on the STALL, the host resends all
// blocks that have not arrived.
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

void FfsSource::begin(const Arrived& arrived)
{
    if (arrived.lost)
        sequence_tracker_.broken_off(*arrived.lost);
    if (arrived.new_stream)
        sequence_tracker_.expect(0);
}

// Returns whether to deliver the block. The host does not repeat a block that has arrived, so a
// block with wrong bytes is a loss.
bool FfsSource::account(const Asked& asked)
{
    const framing::Header& header = asked.arrived->header;
    begin(*asked.arrived);
    if (check_.passes(header, asked.block, endpoint_path()))
        return sequence_tracker_.account(header);
    sequence_tracker_.damaged(header);
    return false;
}

// Takes the front block; nullopt if it arrived twice, or differs from the block that was sent.
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
    // The host's clock is not known here, so live samples get the current time.
    Time time = framing::time_of(asked.arrived->header, 0, std::nullopt);
    if (time.ns != 0 && time.clock == Clock::monotonic)
        time.ns = sys::monotonic_ns();
    return std::move(asked.block)
        .fill(sequence_tracker_.next(asked.arrived->header, time, asked.unverified));
}

} // namespace iio_stream::usb
