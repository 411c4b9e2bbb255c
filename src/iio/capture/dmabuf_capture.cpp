// SPDX-License-Identifier: MIT
#include "core/loss/interrupt_latency.hpp"
#include "core/memory/bounce.hpp"
#include "core/memory/fill_request.hpp"
#include "iio/buffer/dma.hpp"
#include "iio/buffer/dmabuf_queue.hpp"
#include "iio/capture/capture.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <vector>

namespace iio_stream::iio {

namespace {

/// Fewer refusals in a row than this never end the stream, however small the pool is.
constexpr std::size_t kFewRefusals = 4;

/// Captures into DMABUFs that the device fills in turn; the CPU handles only fences.
class DmabufCapture final : public Capture {
public:
    explicit DmabufCapture(const CaptureContext& context)
        : Capture(context), queue_(context.file.fd())
    {}

    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override;
    Taken take() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return blocks_.size(); }
    bool on_timeout() override;
    void run_meanwhile(const std::function<void()>& task) override { task(); }

private:
    Taken deliver(const Completion& done);
    void note_failure(const Completion& done);
    void count_refusal(int error);
    bool is_refused() const noexcept;

    DmabufQueue queue_;
    detail::FillQueue blocks_;              ///< the blocks in queue_, and the one in held_
    std::optional<Completion> held_;        ///< complete, but waiting for the overflow register
    std::vector<std::uint64_t> unverified_; ///< by block: position if unverified
    std::size_t failed_in_a_row_ = 0;
};

bool DmabufCapture::prepare(BlockPool& pool, std::string& why)
{
    why = why_not_reached(context_.dir, context_.file.fd(), pool);
    if (!why.empty())
        return false;
    int error = 0;
    if (!queue_.attach(context_.dir, pool, error)) {
        why = dmabuf_refusal_text(error);
        return false;
    }
    // Some HDL takes the transfer length from here even in DMABUF mode.
    (void)context_.dir.set_length(pool.block_size() / context_.format.sample_bytes);
    blocks_.reset(pool.count());
    held_.reset();
    unverified_.assign(pool.count(), kUnknown);
    failed_in_a_row_ = 0;
    stats_ = {};
    remark_.clear();
    why = detail::dma_reach_remark(pool);
    return true;
}

// Nothing has been delivered yet, so a restart of the device loses nothing.
void DmabufCapture::start()
{
    (void)queue_.switch_on(context_.dir);
}

void DmabufCapture::stop() noexcept
{
    if (blocks_.empty())
        context_.dir.disable();
    else
        context_.dir.take_back();
    queue_.detach();
    held_.reset();
    blocks_.clear();
}

void DmabufCapture::submit(EmptyBlock block, std::size_t bytes)
{
    const std::size_t index = block.index();
    context_.overflow_detector.before_enqueue();
    if (queue_.enqueue(index, bytes) == DmabufQueue::Put::stuck && unverified_[index] != kUnknown) {
        // It was delivered as unverified, and now it is known that the device never wrote it.
        ++stats_.error_blocks;
        const std::uint64_t samples = block.capacity() / context_.format.sample_bytes;
        context_.tracker.gap(
            {unverified_[index], unverified_[index] + samples, 0, samples, Evidence::dma_error});
        count_refusal(EIO);
    }
    unverified_[index] = kUnknown;
    blocks_.push({std::move(block), bytes});
}

// If every block is refused, the driver does not accept such blocks at all, and the stream cannot
// continue.
bool DmabufCapture::is_refused() const noexcept
{
    return failed_in_a_row_ >= std::max(unverified_.size(), kFewRefusals);
}

Taken DmabufCapture::take()
{
    if (is_refused()) // the error has been reported, and the blocks contain no samples
        return {};
    if (!held_) {
        held_ = queue_.take();
        if (!held_)
            return {};
        if (held_->state == Completion::State::cancelled) {
            stats_.cancelled_blocks += blocks_.size();
            fail_ended();
        }
        if (context_.queue_is_evidence())
            context_.overflow_detector.queued(held_->enqueued_ns, held_->earliest_ns,
                                              context_.tracker.position());
        if (held_->state == Completion::State::failed) {
            note_failure(*std::exchange(held_, std::nullopt));
            return {};
        }
    }
    if (!context_.overflow_detector.report(context_.tracker, sys::monotonic_ns()))
        return {};
    return deliver(*std::exchange(held_, std::nullopt));
}

// The device did not fill the block. It is unknown whether samples were lost before the next block.
void DmabufCapture::note_failure(const Completion& done)
{
    const detail::FillRequest flight = blocks_.pop();
    ++stats_.error_blocks;
    if (done.error == ENOMEM)
        remark_ = std::string("some blocks were refused, because ") + kNoDescriptors + "; " +
                  kMoreDescriptors;
    context_.tracker.failed();
    const std::uint64_t position = context_.tracker.position();
    context_.tracker.gap(
        {position, position, 0, flight.bytes / context_.format.sample_bytes, Evidence::dma_error});
    count_refusal(done.error);
}

void DmabufCapture::count_refusal(int error)
{
    ++failed_in_a_row_;
    if (is_refused())
        throw Error(Fault::device, error, "DMA into", "blocks of " + context_.file.path(),
                    "the DMA driver refuses them (" + errno_name(error) + ")",
                    error == ENOMEM ? kMoreDescriptors
                                    : "try another --block-size or memory=; see dmesg");
}

Taken DmabufCapture::deliver(const Completion& done)
{
    detail::FillRequest flight = blocks_.pop();
    BlockState state = BlockState::complete;
    if (done.state != Completion::State::unverified) {
        failed_in_a_row_ = 0;
    } else {
        ++stats_.unverified_blocks;
        state = BlockState::unverified;
        unverified_[done.index] = context_.tracker.position();
    }
    const std::uint64_t samples = flight.bytes / context_.format.sample_bytes;
    context_.overflow_detector.completed(context_.tracker.position() + samples, done.ns, done.ns,
                                         done.ns);
    if (context_.counter != nullptr) {
        const CpuRead data{flight.block};
        context_.counter->report_gaps(data.bytes().first(flight.bytes), context_.tracker, done.ns);
    }
    // One more block is added for samples in the FIFO, in case the queue has run empty.
    const std::uint64_t in_flight =
        (blocks_.size() + 1) * (flight.block.capacity() / context_.format.sample_bytes);
    context_.tuning.completed(context_.tracker,
                              {samples, done.ns, detail::kLongestInterruptLatency, in_flight});
    const Time time{Clock::monotonic, done.ns, std::nullopt};
    return {std::move(flight.block).fill(context_.tracker.next(flight.bytes, time, state)), false};
}

Wait DmabufCapture::wait()
{
    if (held_)
        return {context_.overflow_detector.fd(), POLLIN,
                context_.overflow_detector.wait_until_ns()};
    return {queue_.wait_fd(), POLLIN};
}

bool DmabufCapture::on_timeout()
{
    // A block queued after the device was unplugged or disabled never signals.
    if (!context_.dir.is_enabled())
        fail_ended();
    return true;
}

} // namespace

std::unique_ptr<Capture> make_dmabuf_capture(const CaptureContext& context)
{
    return std::make_unique<DmabufCapture>(context);
}

} // namespace iio_stream::iio
