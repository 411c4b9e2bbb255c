// SPDX-License-Identifier: MIT
#include "core/bounce.hpp"
#include "core/fifo.hpp"
#include "core/sizing.hpp"
#include "iio/dmabuf_queue.hpp"
#include "iio/playback.hpp"
#include "iio/reach.hpp"
#include "sys/dmabuf.hpp"
#include "sys/event.hpp"
#include "sys/mapping.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>

namespace iio_stream::iio {

namespace {

/// Plays DMABUFs that the device reads in turn; the CPU sees fences only.
class DmabufPlayback final : public Playback {
public:
    explicit DmabufPlayback(const PlaybackContext& context)
        : Playback(context), queue_(context.file.fd())
    {}

    bool may_block() const noexcept override { return false; }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Filled filled) override;
    void service() override;
    Wait wait() override { return {queue_.wait_fd(), POLLIN}; }
    std::size_t pending() const noexcept override
    {
        return context_.cyclic ? cycle_.waiting() : playing_.size();
    }
    void flush() override;
    void drain() override;
    void close() noexcept override;

private:
    void enqueue(std::size_t index, std::size_t bytes);
    std::size_t padded(const Filled& filled);
    void judge(const Completion& done);
    void repeat();

    DmabufQueue queue_;
    detail::Fifo<Filled> playing_; ///< in the device's queue, where they come once
    std::size_t align_ = 1;
    std::size_t prefill_ = 0;      ///< blocks in the queue before the device is switched on
    std::int64_t submitted_ns_ = 0, ended_ns_ = 0;
    std::size_t next_ = 0;         ///< of the cycle's entries, the one at the queue's front
    bool padded_ = false, draining_ = false;
};

bool DmabufPlayback::prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                             std::string& why)
{
    reset(stream, pool, cancel);
    align_ = context_.dir.alignment();
    // Blocks that wait here are missing at a source which samples at its own time.
    prefill_ = stream.live ? std::max<std::size_t>(pool.count() / 2, 1) : pool.count();
    playing_.reset(pool.count());
    ended_ns_ = 0;
    next_ = 0;
    padded_ = draining_ = false;
    // Some HDL takes the length of a transfer from here even in DMABUF mode.
    (void)context_.dir.set_length(stream.block_bytes / context_.format.sample_bytes);
    why = why_not_reached(context_.file.fd(), pool);
    if (!why.empty())
        return false;
    int error = 0;
    const bool attached = queue_.attach(pool, error);
    why = attached ? detail::low_remark(pool) : dmabuf_refusal_text(error);
    return attached;
}

void DmabufPlayback::enqueue(std::size_t index, std::size_t bytes)
{
    // What was taken for played then is known now not to have been: the kernel had no status of it.
    if (queue_.enqueue(index, bytes) == DmabufQueue::Put::stuck)
        throw Error(Fault::device, EIO, "DMA from", "a block for " + context_.name,
                    "the DMA driver had refused it, and it was not played",
                    "another --block-size or memory=; its log is in dmesg");
    count(context_.counts.given);
}

void DmabufPlayback::submit(Filled filled)
{
    submitted_ns_ = sys::monotonic_ns();
    if (context_.cyclic)
        return cycle_.keep(std::move(filled));
    if (playing_.empty())
        progress_ns_ = submitted_ns_;
    enqueue(filled.index(), padded(filled));
    playing_.push(std::move(filled));
    if (!enabled_ && playing_.size() >= prefill_)
        enable();
}

// The device takes multiples of its bus' width: the stream's last samples are followed by zeros.
std::size_t DmabufPlayback::padded(const Filled& filled)
{
    if (filled.offset() != 0)
        throw Error(Fault::device, ENOTSUP, "play", "a part of a block on " + context_.name,
                    "a DMABUF is played from its beginning",
                    "path=fileio plays what --on-gap zero-fill has cut up");
    if (padded_)
        throw Error(Fault::device, EINVAL, "play", context_.name,
                    "a block that is no multiple of " + std::to_string(align_) +
                        " bytes was followed by another");
    const std::size_t bytes = detail::round_up(filled.bytes(), align_);
    padded_ = bytes != filled.bytes();
    if (!padded_)
        return bytes;
    const auto whole = sys::Mapping::of_file(filled.dmabuf(), bytes, 0, sys::Access::read_write,
                                             "DMABUF");
    sys::dmabuf_begin_cpu(filled.dmabuf(), sys::CpuAccess::write);
    std::memset(whole.data() + filled.bytes(), 0, bytes - filled.bytes());
    sys::dmabuf_end_cpu(filled.dmabuf(), sys::CpuAccess::write);
    return bytes;
}

// No block follows: fewer than the prefill are played all the same, and a cycle begins.
void DmabufPlayback::flush()
{
    if (!context_.cyclic) {
        if (!enabled_ && !playing_.empty())
            enable();
        return;
    }
    if (cycle_.closed() || cycle_.leases().empty())
        return;
    cycle_.close();
    for (const Cycle::Entry& entry : cycle_.entries())
        enqueue(entry.index, entry.bytes);
    enable();
}

// Whether it was played, and whether the device had nothing to play before it.
void DmabufPlayback::judge(const Completion& done)
{
    if (done.state == Completion::State::cancelled || done.state == Completion::State::failed)
        fail_ended(done.error);
    if (done.state == Completion::State::unverified)
        count(context_.counts.unverified);
    if (ended_ns_ != 0 && done.enqueued_ns > ended_ns_)
        count(context_.counts.underflows);
    ended_ns_ = std::max(ended_ns_, done.ns);
}

void DmabufPlayback::repeat()
{
    const Cycle::Entry entry = cycle_.entries()[next_];
    next_ = (next_ + 1) % cycle_.entries().size();
    cycle_.played(entry.bytes);
    context_.counts.repeats.store(cycle_.repeats(), std::memory_order_relaxed);
    if (!draining_)
        enqueue(entry.index, entry.bytes);
}

void DmabufPlayback::service()
{
    while (const auto done = queue_.take()) {
        progress_ns_ = sys::monotonic_ns();
        count(context_.counts.moves);
        judge(*done);
        if (context_.cyclic)
            repeat();
        else
            (void)playing_.pop();
    }
    if (queue_.pending() == 0)
        return;
    const std::int64_t now = sys::monotonic_ns();
    if (enabled_ && now >= progress_ns_ + timeout_ns_)
        fail_late();
    // The rest of the prefill does not come: other sinks hold the blocks, or the source is slow.
    if (!enabled_ && now >= submitted_ns_ + timeout_ns_ / 2)
        enable();
}

// Of a cycle: all else was waited for before.
void DmabufPlayback::drain()
{
    draining_ = true;
    while (enabled_ && queue_.pending() != 0) {
        pollfd fds[] = {{queue_.wait_fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)::poll(fds, 2, 50);
        if (fds[1].revents != 0)
            return; // whoever cancelled tells
        service();
    }
}

void DmabufPlayback::close() noexcept
{
    if (queue_.pending() == 0)
        context_.dir.disable();
    else
        context_.dir.take_back();
    queue_.detach();
    playing_.clear();
    cycle_.clear();
    enabled_ = false;
}

} // namespace

std::unique_ptr<Playback> make_dmabuf_playback(const PlaybackContext& context)
{
    return std::make_unique<DmabufPlayback>(context);
}

} // namespace iio_stream::iio
