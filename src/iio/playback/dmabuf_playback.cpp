// SPDX-License-Identifier: MIT
#include "iio/playback/dmabuf_playback.hpp"

#include "core/base/align.hpp"
#include "core/base/fifo.hpp"
#include "core/memory/bounce.hpp"
#include "iio/buffer/dma.hpp"
#include "sys/event.hpp"
#include "sys/memory/dmabuf.hpp"
#include "sys/memory/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace iio_stream::iio {

bool DmabufPlayback::prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                             std::string& why)
{
    reset(stream, pool, cancel);
    ended_ns_ = 0;
    why = why_not_reached(context_.dir, context_.file.fd(), pool);
    if (!why.empty())
        return false;
    int error = 0;
    const bool attached = queue_.attach(context_.dir, pool, error);
    // Some HDL takes the transfer length from here even in DMABUF mode.
    (void)context_.dir.set_length(stream.block_size / context_.format.sample_bytes);
    why = attached ? detail::dma_reach_remark(pool) : dmabuf_refusal_text(error);
    return attached;
}

void DmabufPlayback::enqueue(std::size_t index, std::size_t bytes)
{
    // The block counted as played, because the kernel had no status for it, but it was not played.
    if (queue_.enqueue(index, bytes) == DmabufQueue::Put::stuck)
        throw Error(Fault::device, EIO, "DMA from", "a block for " + context_.name,
                    "the DMA driver refused it, and it was not played",
                    "try another --block-size or memory=; see dmesg");
    count(context_.counts.given);
}

void DmabufPlayback::switch_on()
{
    const unsigned again = queue_.switch_on(context_.dir);
    note_enabled();
    if (again != 0)
        remark_ = "started " + std::to_string(again + 1) +
                  " times, because the DMA driver had no memory for all blocks: the first samples "
                  "may have been played more than once";
}

void DmabufPlayback::count_completion(const Completion& done)
{
    context_.counts.begun = true;
    if (done.state == Completion::State::cancelled || done.state == Completion::State::failed)
        fail_ended(done.error);
    if (done.state == Completion::State::unverified)
        count(context_.counts.unverified);
    if (ended_ns_ != 0 && done.enqueued_ns > ended_ns_)
        count(context_.counts.underflows);
    ended_ns_ = std::max(ended_ns_, done.ns);
}

// With two blocks queued, the device has not run empty during the read of the register.
bool DmabufPlayback::is_supplied() const
{
    return context_.counts.given >= context_.counts.moves + 2;
}

void DmabufPlayback::close() noexcept
{
    if (queue_.pending() == 0)
        context_.dir.disable();
    else
        context_.dir.take_back();
    queue_.detach();
    cycle_.clear();
    enabled_ = false;
}

namespace {

/// Plays each block once.
class DmabufOnce final : public DmabufPlayback {
public:
    using DmabufPlayback::DmabufPlayback;

    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Block filled) override;
    void service() override;
    std::size_t pending() const noexcept override { return playing_.size(); }
    void flush() override;
    void drain() override {} // all blocks have been played already
    void close() noexcept override;

private:
    std::size_t padded(const Block& filled);

    detail::Fifo<Block> playing_; ///< in the device's queue
    std::size_t align_ = 1;
    std::int64_t submitted_ns_ = 0;
    bool padded_ = false;
};

bool DmabufOnce::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    align_ = context_.dir.alignment();
    plan_prefill(stream, pool.count(), stream.block_size);
    playing_.reset(pool.count());
    padded_ = false;
    return DmabufPlayback::prepare(stream, pool, cancel, why);
}

void DmabufOnce::submit(Block filled)
{
    submitted_ns_ = sys::monotonic_ns();
    if (playing_.empty())
        progress_ns_ = submitted_ns_;
    enqueue(filled.index(), padded(filled));
    playing_.push(std::move(filled));
    if (!enabled_ && playing_.size() >= prefill_)
        switch_on();
}

// The device accepts only multiples of its bus width, so zeros follow the last samples of the
// stream.
std::size_t DmabufOnce::padded(const Block& filled)
{
    if (filled.offset() != 0)
        throw Error(Fault::device, ENOTSUP, "play", "a part of a block on " + context_.name,
                    "a DMABUF is played from its beginning",
                    "path=fileio plays blocks that --on-gap zero-fill has split");
    if (padded_) {
        count(context_.counts.underflows);
        remark_ = "the device takes multiples of " + std::to_string(align_) +
                  " bytes: where samples came late, zeros filled up the last multiple, which "
                  "counts as an underflow";
    }
    const std::size_t bytes = detail::round_up(filled.bytes(), align_);
    padded_ = bytes != filled.bytes();
    if (!padded_)
        return bytes;
    const auto whole =
        sys::Mapping::of_file(filled.dmabuf(), bytes, 0, sys::Access::read_write, "DMABUF");
    sys::dmabuf_begin_cpu(filled.dmabuf(), sys::CpuAccess::write);
    std::memset(whole.data() + filled.bytes(), 0, bytes - filled.bytes());
    sys::dmabuf_end_cpu(filled.dmabuf(), sys::CpuAccess::write);
    return bytes;
}

// No block follows, so the blocks are played even if they are fewer than the prefill.
void DmabufOnce::flush()
{
    if (!enabled_ && !playing_.empty())
        switch_on();
}

void DmabufOnce::service()
{
    while (const auto done = queue_.take()) {
        progress_ns_ = sys::monotonic_ns();
        count_completion(*done);
        count(context_.counts.moves);
        (void)playing_.pop();
    }
    if (queue_.pending() == 0)
        return;
    const std::int64_t now = sys::monotonic_ns();
    if (enabled_ && now >= progress_ns_ + timeout_ns_)
        fail_late();
    // The rest of the prefill has not arrived: other sinks hold the blocks, or the source is slow.
    if (!enabled_ && now >= submitted_ns_ + patience_ns_)
        switch_on();
}

void DmabufOnce::close() noexcept
{
    DmabufPlayback::close();
    playing_.clear();
}

} // namespace

std::unique_ptr<Playback> make_dmabuf_playback(const PlaybackContext& context)
{
    return std::make_unique<DmabufOnce>(context);
}

} // namespace iio_stream::iio
