// SPDX-License-Identifier: MIT
#include "usb/ffs_source.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <utility>

namespace iio_stream::usb {

FfsSource::~FfsSource()
{
    if (!joined_)
        return;
    Turn turn = function_->turn();
    close_inlet();
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
    close_inlet();
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
        await_enable(turn, cancel_.fd(), [this] { return receiver_ || open_inlet(); });
    why = !accepted ? refusal_ : dmabuf_ ? detail::low_remark(pool) : "";
    cancel_.clear();
    return accepted;
}

// False if the controller refuses DMABUFs, or ep0 has events to handle first.
bool FfsSource::open_inlet()
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

// What has come stays; the rest is requested again, if at all.
void FfsSource::close_inlet() noexcept
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

// What has come of it, in samples.
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

// Samples are wanted from here on: before, the sinks might still refuse the blocks.
void FfsSource::start()
{
    const Turn turn = function_->turn();
    running_ = true;
    heard_ns_ = sys::monotonic_ns();
    hear();
    ask_all();
}

void FfsSource::stop() noexcept
{
    Turn turn = function_->turn();
    cancel_.clear();
    doubtful_ = false;
    close_inlet();
    if (severed_ || lost_)
        sequence_tracker_.broken_off(lost_.value_or(0) + (severed_ ? interrupted_ : 0));
    severed_ = false;
    lost_.reset();
    blocks_.clear();
    whole_ = asked_ = 0;
    if (!std::exchange(running_, false))
        return;    // prepared again because another endpoint was refused
    refuse_more(); // the function may stay, for its other direction
    leave(turn);
}

void FfsSource::submit(EmptyBlock block, std::size_t)
{
    const Turn turn = function_->turn();
    blocks_.push({std::move(block)});
    ask_all();
}

// A host may pause as long as it likes.
bool FfsSource::settle()
{
    const Turn turn = function_->turn();
    check_patience(heard_ns_, streaming_ ? "the program there has stopped sending"
                                         : "no program there has begun to send");
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

std::string FfsSource::stats_json() const
{
    return nlohmann::json{
        {"blocks", blocks_taken_}, {"failed_blocks", failed_ + check_.failed()}, {"halts", halts_}}
        .dump();
}

} // namespace iio_stream::usb
