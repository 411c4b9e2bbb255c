// SPDX-License-Identifier: MIT
#include "core/base/fifo.hpp"
#include "core/base/text.hpp"
#include "iio/buffer/mmap_blocks.hpp"
#include "iio/playback/playback.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <poll.h>
#include <span>
#include <utility>
#include <vector>

namespace iio_stream::iio {

namespace {

constexpr std::size_t kFewestBlocks = 2;
/// Interval at which a repetition by the hardware is checked, because poll() does not report that
/// the device is gone.
constexpr std::int64_t kGoneCheckNs = 200'000'000;

/// Plays by copying samples into the kernel's own blocks, which the device plays in turn, or one of
/// which it repeats.
class MmapPlayback final : public Playback {
public:
    explicit MmapPlayback(const PlaybackContext& context) : Playback(context), queue_(context.file)
    {}
    ~MmapPlayback() override { close(); }

    // submit() copies, and waits for a free block.
    bool may_block() const noexcept override { return true; }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Block filled) override;
    void service() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return playing_.size(); }
    void flush() override;
    void drain() override;
    void close() noexcept override;
    bool is_supplied() const override;

private:
    bool allocate(std::size_t bytes, std::size_t count, std::string& why);
    void play(std::span<const std::byte> samples);
    void queue(std::size_t index, std::size_t bytes);
    std::size_t take_free_block();
    void queue_carried();
    void queue_repeated();
    void await_device();
    void collect();
    void switch_on();
    void begin_repeating();
    void repeat_in_hardware(std::size_t bytes);

    MmapBlocks queue_;
    detail::Fifo<Block> playing_;   ///< copied, but not yet completely played
    std::vector<std::size_t> ends_; ///< by kernel block: how many of playing_ end in it
    std::size_t carried_ends_ = 0;  ///< how many of playing_ end in the carried bytes
    std::size_t last_ = 0;          ///< the block queued last
    std::vector<std::size_t> free_; ///< blocks that the device does not have
    std::size_t align_ = 1;
    std::int64_t submitted_ns_ = 0;
    /// Number of bytes at the start of the block free_.back(), less than the width of the device's
    /// bus. The next samples are appended to these bytes.
    std::size_t carried_ = 0;
    bool repeating_ = false;   ///< repeats in software
    std::size_t next_ = 0;     ///< index of the cycle's current lease
    std::size_t within_ = 0;   ///< bytes of that lease that are queued
    std::uint64_t played_ = 0; ///< bytes that were repeated
    std::uint64_t round_ = 1;  ///< bytes of all leases
};

bool MmapPlayback::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    reset(stream, pool, cancel);
    align_ = context_.dir.alignment();
    playing_.reset(pool.count());
    carried_ends_ = 0;
    carried_ = next_ = within_ = 0;
    played_ = 0;
    repeating_ = false;
    submitted_ns_ = 0;
    if (!allocate(std::min(stream.block_size, sys::kMaxIioBlockBytes), pool.count(), why))
        return false;
    plan_prefill(stream, queue_.count(), queue_.block_bytes());
    return true;
}

bool MmapPlayback::allocate(std::size_t bytes, std::size_t count, std::string& why)
{
    const std::size_t unit = std::lcm(context_.format.sample_bytes, align_);
    if (!queue_.allocate_at_least(kFewestBlocks, bytes / unit * unit, count, unit, why))
        return false;
    (void)context_.dir.set_length(queue_.block_bytes() / context_.format.sample_bytes);
    ends_.assign(queue_.count(), 0);
    free_.clear();
    free_.reserve(queue_.count());
    for (std::size_t i = queue_.count(); i > 0; --i) {
        queue_.map(i - 1, true);
        free_.push_back(i - 1);
    }
    return true;
}

void MmapPlayback::submit(Block filled)
{
    submitted_ns_ = sys::monotonic_ns();
    if (queue_.pending() == 0)
        progress_ns_ = submitted_ns_;
    if (context_.cyclic != Cyclic::off)
        return cycle_.keep(std::move(filled));
    {
        const CpuRead data{filled};
        play(data.bytes());
    }
    // The lease is kept until its last sample has been played, so that samples count as delivered
    // only after they have left the device.
    playing_.push(std::move(filled));
    ++(carried_ != 0 ? carried_ends_ : ends_[last_]);
}

// A remainder that is smaller than the width of the device's bus is kept until more samples follow.
void MmapPlayback::play(std::span<const std::byte> samples)
{
    while (!samples.empty()) {
        const std::size_t index = take_free_block();
        const std::span<std::byte> block = queue_.bytes(index);
        const std::size_t some = std::min(block.size() - carried_, samples.size());
        std::memcpy(block.data() + carried_, samples.data(), some);
        samples = samples.subspan(some);
        const std::size_t bytes = carried_ + some, whole = bytes / align_ * align_;
        carried_ = bytes - whole;
        if (whole == 0) {
            free_.push_back(index);
            return;
        }
        if (carried_ != 0) { // copied before the kernel gets the block and may reuse it
            const std::size_t after = take_free_block();
            std::memcpy(queue_.bytes(after).data(), block.data() + whole, carried_);
            free_.push_back(after);
        }
        queue(index, whole);
        if (!enabled_ && queue_.pending() >= prefill_)
            switch_on();
    }
}

// If the device had to wait for a block, this counts as an underflow.
void MmapPlayback::queue(std::size_t index, std::size_t bytes)
{
    if (queue_.enqueue(index, bytes))
        count(context_.counts.underflows);
    count(context_.counts.given);
    ends_[index] = std::exchange(carried_ends_, 0);
    last_ = index;
}

std::size_t MmapPlayback::take_free_block()
{
    while (free_.empty()) {
        if (!enabled_)
            switch_on();
        collect();
        if (free_.empty())
            await_device();
    }
    const std::size_t index = free_.back();
    free_.pop_back();
    return index;
}

void MmapPlayback::await_device()
{
    const std::int64_t left = progress_ns_ + timeout_ns_ - sys::monotonic_ns();
    if (left <= 0)
        fail_late();
    pollfd fds[] = {{context_.file.fd(), POLLOUT, 0}, {cancel_, POLLIN, 0}};
    (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 500)));
    if (fds[1].revents != 0)
        throw Error(Fault::device, ECANCELED, "write", context_.file.path(),
                    "stopped before all was played");
}

// Takes back the blocks that the device has played. With a FIFO that repeats the samples itself,
// some kernels return a cyclic block as if it had been played.
void MmapPlayback::collect()
try {
    while (const auto done = queue_.dequeue()) {
        progress_ns_ = sys::monotonic_ns();
        if (done->bytes == 0)
            fail_ended(context_.dir.is_enabled() ? EIO : EINTR);
        if (context_.counts.repeating == Repeating::hardware)
            return;
        context_.counts.begun = true;
        count(context_.counts.moves);
        for (std::size_t i = std::exchange(ends_[done->index], 0); i != 0; --i)
            (void)playing_.pop();
        if (repeating_)
            context_.counts.repeats =
                std::max<std::uint64_t>((played_ += done->bytes) / round_, 1) - 1;
        // This block goes to the front, because carried samples may wait in the block at the back.
        free_.insert(free_.begin(), done->index);
    }
} catch (const Error& error) {
    if (error.code().value() == ENODEV)
        fail_ended(ENODEV);
    throw;
}

void MmapPlayback::switch_on()
{
    queue_.started();
    enable();
}

Wait MmapPlayback::wait()
{
    if (context_.counts.repeating == Repeating::hardware)
        return {-1, 0, sys::after(kGoneCheckNs)};
    return queue_.pending() != 0 && enabled_ ? Wait{context_.file.fd(), POLLOUT} : Wait{};
}

void MmapPlayback::service()
{
    collect();
    if (context_.counts.repeating == Repeating::hardware)
        return;
    while (repeating_ && !free_.empty())
        queue_repeated();
    const std::int64_t now = sys::monotonic_ns();
    if (queue_.pending() == 0)
        return;
    if (enabled_ && now >= progress_ns_ + timeout_ns_)
        fail_late();
    // The rest of the prefill has not arrived: other sinks hold the blocks, or the source is slow.
    if (!enabled_ && now >= submitted_ns_ + patience_ns_)
        switch_on();
}

// No block follows, so the last samples are played, even if there are fewer blocks than the
// prefill.
void MmapPlayback::flush()
{
    if (context_.cyclic != Cyclic::off)
        return begin_repeating();
    queue_carried();
    if (!enabled_ && queue_.pending() != 0)
        switch_on();
}

void MmapPlayback::queue_carried()
{
    if (carried_ == 0)
        return;
    const std::size_t index = take_free_block();
    const std::size_t pad = align_ - carried_;
    std::memset(queue_.bytes(index).data() + carried_, 0, pad);
    remark_ = "the device takes multiples of " + std::to_string(align_) +
              " bytes: " + std::to_string(pad) + " bytes of zeros follow the last sample";
    queue(index, std::exchange(carried_, 0) + pad);
}

// Queues a whole block of repeated rounds, however few samples a round has.
void MmapPlayback::queue_repeated()
{
    const std::size_t index = take_free_block();
    const std::span<std::byte> block =
        queue_.bytes(index).first(queue_.block_bytes() / align_ * align_);
    for (std::size_t at = 0; at < block.size();) {
        const CpuRead data{cycle_.leases()[next_]};
        const auto rest = data.bytes().subspan(within_);
        const std::size_t some = std::min(rest.size(), block.size() - at);
        std::memcpy(block.data() + at, rest.data(), some);
        at += some;
        within_ += some;
        if (some == rest.size()) {
            within_ = 0;
            next_ = (next_ + 1) % cycle_.leases().size();
        }
    }
    queue(index, block.size());
    if (!enabled_ && queue_.pending() >= prefill_)
        switch_on();
}

// The hardware repeats one block without an interrupt, so it can repeat only samples that fit into
// one block.
void MmapPlayback::begin_repeating()
{
    if (enabled_ || repeating_ || cycle_.leases().empty())
        return;
    std::size_t all = 0;
    for (const Block& lease : cycle_.leases())
        all += lease.bytes();
    round_ = all;
    context_.counts.round_samples = all / context_.format.sample_bytes;
    const std::size_t bytes = std::lcm(all, align_);
    if (context_.cyclic != Cyclic::software && bytes <= sys::kMaxIioBlockBytes)
        return repeat_in_hardware(bytes);
    if (context_.cyclic == Cyclic::hardware)
        fail_usage("no cyclic=hardware on " + context_.name + ": " + std::to_string(bytes) +
                       " bytes do not fit into one block of at most " +
                       format_size(sys::kMaxIioBlockBytes),
                   "cyclic=on repeats in software");
    remark_ = context_.cyclic == Cyclic::software
                  ? "cyclic=software was given"
                  : "repeated in software: the samples do not fit into one block";
    repeating_ = true;
    context_.counts.repeating = Repeating::software;
    while (!free_.empty())
        queue_repeated();
}

void MmapPlayback::repeat_in_hardware(std::size_t bytes)
{
    std::string why;
    queue_.release();
    if (queue_.allocate(bytes, 1, why) == 0)
        throw Error(Fault::device, ENOMEM, "allocate",
                    "a block of " + format_size(bytes) + " for " + context_.name, why,
                    "cyclic=software repeats with smaller blocks");
    queue_.map(0, true);
    std::size_t at = 0;
    for (std::size_t i = 0; at < bytes; i = (i + 1) % cycle_.leases().size()) {
        const CpuRead data{cycle_.leases()[i]};
        std::memcpy(queue_.bytes(0).data() + at, data.bytes().data(), data.bytes().size());
        at += data.bytes().size();
    }
    (void)context_.dir.set_length(bytes / context_.format.sample_bytes);
    (void)queue_.enqueue(0, bytes, true);
    PlaybackCounts& counts = context_.counts;
    counts.since_ns = sys::monotonic_ns();
    counts.repeating = Repeating::hardware;
    // For UnderflowRegisterWatch: the device plays and never runs empty.
    counts.given = 4;
    counts.moves = 1;
    counts.begun = true;
    switch_on();
    detail::add_clause(remark_, "repeated in hardware: the DMA restarts the same block each time");
}

// With two blocks queued, the device has not run empty during the read of the register.
bool MmapPlayback::is_supplied() const
{
    return context_.counts.given >= context_.counts.moves + 2;
}

// If the stream ends before the prefill is complete, flush() has not been called.
void MmapPlayback::drain()
{
    if (context_.counts.repeating == Repeating::hardware)
        return;
    repeating_ = false;
    queue_carried();
    if (!enabled_ && queue_.pending() != 0)
        switch_on();
    for (collect(); queue_.pending() != 0; collect()) {
        if (!context_.dir.is_enabled())
            fail_late();
        await_device();
    }
}

void MmapPlayback::close() noexcept
{
    if (queue_.count() == 0)
        return;
    if (context_.counts.until_ns == 0)
        context_.counts.until_ns = sys::monotonic_ns();
    context_.dir.disable();
    queue_.drain();
    queue_.release();
    playing_.clear();
    cycle_.clear();
    free_.clear();
    repeating_ = enabled_ = false;
    carried_ = 0;
}

} // namespace

std::unique_ptr<Playback> make_mmap_playback(const PlaybackContext& context)
{
    return std::make_unique<MmapPlayback>(context);
}

} // namespace iio_stream::iio
