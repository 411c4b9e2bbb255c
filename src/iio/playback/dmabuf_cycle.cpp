// SPDX-License-Identifier: MIT
// How cyclic=on plays DMABUFs: one block that the DMA repeats by itself, or several in turn.
//
// Whether the hardware can is found by trying. Linux up to 7.2 accepts IIO_BUFFER_DMABUF_CYCLIC and
// plays the block once. Since 7.3 it repeats it, and refuses a second one meanwhile (EBUSY on its
// fence): so the first blocks are all queued as cyclic, and the second one's fence shows which it
// is. If it is not refused, they are an ordinary queue, which continues in software without a seam.
//
// A core that cannot repeat a transfer is restarted by the driver at the interrupt that ends each
// round; if the block is one segment, the core pauses until then. The interrupts reveal it.
#include "core/base/text.hpp"
#include "iio/buffer/dma.hpp"
#include "iio/playback/dmabuf_playback.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::iio {
namespace {

/// This much has to be queued while software finds out that it has to play the rest.
constexpr double kCyclicTestSeconds = 0.05;
/// This many rounds show whether each takes an interrupt; if that is soon enough, it is waited for.
constexpr unsigned kRoundsWatched = 4;
constexpr std::int64_t kUnknownRoundNs = 100'000'000, kLongestWatchNs = 100'000'000;

class DmabufCycle final : public DmabufPlayback {
public:
    using DmabufPlayback::DmabufPlayback;

    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Block filled) override { cycle_.keep(std::move(filled)); }
    void service() override;
    std::size_t pending() const noexcept override { return in_hardware() ? 0 : cycle_.waiting(); }
    void flush() override;
    void drain() override;
    void close() noexcept override;

private:
    bool in_hardware() const noexcept { return context_.counts.repeating == Repeating::hardware; }
    bool tries_hardware();
    std::size_t test_entries() const;
    void begin();
    void leave_to_hardware();
    void watch_interrupts();
    void check_interrupts();
    void restart();
    void go_on(std::size_t from);
    void begin_in_software();
    void repeat();
    void end_hardware();

    std::size_t next_ = 0; ///< of the cycle's entries, the one at the front of the queue
    bool tried_ = false;   ///< what is queued is cyclic, and none of it has completed
    bool draining_ = false;
    std::string controller_;         ///< that of the DMA, whose interrupts are counted
    std::int64_t watch_ends_ns_ = 0; ///< end of the observation; 0 = none running
    std::uint64_t interrupts_ = 0;   ///< at the start of the observation
};

bool DmabufCycle::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    next_ = 0;
    watch_ends_ns_ = 0;
    tried_ = draining_ = false;
    return DmabufPlayback::prepare(stream, pool, cancel, why);
}

void DmabufCycle::flush()
{
    if (cycle_.closed() || cycle_.leases().empty())
        return;
    cycle_.close();
    context_.counts.round_samples = cycle_.bytes() / context_.format.sample_bytes;
    begin();
}

bool DmabufCycle::tries_hardware()
{
    if (context_.cyclic == Cyclic::software) {
        remark_ = "cyclic=software was given";
        return false;
    }
    if (cycle_.fits_one())
        return true;
    const std::string what = std::to_string(cycle_.bytes()) +
                             " bytes do not fit into one block, and hardware repeats only one";
    if (context_.cyclic == Cyclic::hardware)
        fail_usage("no cyclic=hardware on " + context_.name + ": " + what, "raise --block-size");
    remark_ = "repeats in software: " + what;
    return false;
}

// The number of entries that show what the kernel does. Each one that it refuses is a line in its
// log.
std::size_t DmabufCycle::test_entries() const
{
    const auto& entries = cycle_.entries();
    const double enough =
        kCyclicTestSeconds * context_.rate * static_cast<double>(context_.format.sample_bytes);
    if (enough <= 0)
        return entries.size();
    std::size_t count = 0, bytes = 0;
    while (count < entries.size() && (count < 2 || static_cast<double>(bytes) < enough))
        bytes += entries[count++].bytes;
    return count;
}

void DmabufCycle::begin()
{
    tried_ = tries_hardware();
    const std::size_t first = tried_ ? test_entries() : cycle_.entries().size();
    for (std::size_t i = 0; i < first; ++i) {
        const Cycle::Entry& entry = cycle_.entries()[i];
        (void)queue_.enqueue(entry.index, entry.bytes, tried_);
        count(context_.counts.given);
    }
    switch_on();
    if (tried_ && queue_.status(1) == -EBUSY)
        return leave_to_hardware();
    go_on(first);
}

// Nothing more to do: the fence of that block stays open until the device is switched off.
void DmabufCycle::leave_to_hardware()
{
    tried_ = false;
    queue_.keep_first();
    PlaybackCounts& counts = context_.counts;
    counts.since_ns = queue_.on_ns();
    counts.repeating = Repeating::hardware;
    // For the underflow register: it plays, and never runs empty.
    counts.given = 4;
    counts.moves = 1;
    counts.begun = true;
    detail::add_clause(remark_, "repeated in hardware: the DMA restarts the same block each time");
    watch_interrupts();
}

void DmabufCycle::watch_interrupts()
{
    controller_ = dma_controller_of(context_.device_id, true);
    const auto count = sys::interrupt_count(controller_);
    if (!count) {
        detail::add_clause(remark_, "cannot tell whether it pauses after each round: the DMA's "
                                    "interrupts are not known");
        return;
    }
    const double samples =
        static_cast<double>(cycle_.entries()[0].bytes / context_.format.sample_bytes);
    const double round_ns = context_.rate > 0 ? samples / context_.rate * 1e9 : kUnknownRoundNs;
    const auto watch_ns =
        static_cast<std::int64_t>(std::min(kRoundsWatched * round_ns + 1e7, 1e15));
    interrupts_ = *count;
    watch_ends_ns_ = sys::after(watch_ns);
    if (watch_ns <= kLongestWatchNs && !sys::wait_for(cancel_, POLLIN, watch_ends_ns_))
        check_interrupts();
}

void DmabufCycle::check_interrupts()
{
    watch_ends_ns_ = 0;
    if (sys::interrupt_count(controller_).value_or(interrupts_) - interrupts_ < kRoundsWatched - 1)
        return;
    const std::string what = "the DMA needs an interrupt after each round, and may pause there";
    if (context_.cyclic == Cyclic::hardware)
        return detail::add_clause(remark_, what);
    restart();
    detail::add_clause(remark_, "repeated in software, restarted: " + what);
}

// Repeats in software what hardware repeated.
void DmabufCycle::restart()
{
    PlaybackCounts& counts = context_.counts;
    remark_.clear();
    counts.repeating = Repeating::software;
    counts.since_ns = 0;
    context_.dir.disable();
    queue_.renew(false);
    for (std::size_t i = 1; i < cycle_.entries().size(); ++i)
        (void)queue_.enqueue(cycle_.entries()[i].index,
                             cycle_.entries()[i].bytes); // refused before
    counts.given = counts.moves + queue_.pending();
    progress_ns_ = sys::monotonic_ns();
    switch_on();
}

void DmabufCycle::go_on(std::size_t from)
{
    if (tried_ && context_.cyclic == Cyclic::hardware)
        throw Error(Fault::device, ENOTSUP, "repeat in hardware", context_.name,
                    "the kernel accepted the block but plays it once, as Linux before 7.3 does",
                    "cyclic=on repeats in software");
    for (std::size_t i = from; i < cycle_.entries().size(); ++i)
        enqueue(cycle_.entries()[i].index, cycle_.entries()[i].bytes);
    context_.counts.repeating = Repeating::software;
    if (!tried_)
        return;
    detail::add_clause(remark_,
                       "repeated in software: the kernel plays a cyclic block once, as Linux "
                       "before 7.3 does");
}

// It was accepted as cyclic, and so was the next: a kernel that repeats without saying so.
void DmabufCycle::begin_in_software()
{
    tried_ = false;
    if (context_.cyclic == Cyclic::hardware)
        fail_late();
    context_.dir.disable();
    queue_.renew(false);
    remark_.clear();
    switch_on();
    detail::add_clause(remark_, "repeated in software, restarted: the kernel does not say that it "
                                "repeats, and no block was done within the deadline");
}

void DmabufCycle::repeat()
{
    const Cycle::Entry entry = cycle_.entries()[next_];
    next_ = (next_ + 1) % cycle_.entries().size();
    cycle_.played(entry.bytes);
    context_.counts.repeats = cycle_.repeats();
    if (!draining_)
        enqueue(entry.index, entry.bytes);
}

void DmabufCycle::service()
{
    while (const auto done = queue_.take()) {
        progress_ns_ = sys::monotonic_ns();
        tried_ = false;
        count_completion(*done);
        count(context_.counts.moves);
        if (in_hardware())
            throw Error(Fault::device, EIO, "repeat in hardware", context_.name,
                        "the block came to an end", "cyclic=software");
        repeat();
    }
    if (watch_ends_ns_ != 0 && !draining_ && sys::monotonic_ns() >= watch_ends_ns_)
        check_interrupts();
    if (queue_.pending() == 0 || in_hardware() || !enabled_)
        return;
    if (sys::monotonic_ns() < progress_ns_ + timeout_ns_)
        return;
    if (!tried_ || !context_.dir.is_enabled())
        fail_late();
    begin_in_software();
}

void DmabufCycle::drain()
{
    draining_ = true;
    if (in_hardware())
        return end_hardware();
    while (enabled_ && queue_.pending() != 0) {
        pollfd fds[] = {{queue_.wait_fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)::poll(fds, 2, 50);
        if (fds[1].revents != 0)
            return; // the canceller reports
        service();
    }
}

// A block queued after it ends the repetition at the end of a round and is played once more, so
// the last round is complete.
void DmabufCycle::end_hardware()
{
    const Cycle::Entry last = cycle_.entries()[1];
    (void)queue_.enqueue(last.index, last.bytes); // it counts as stuck since it was refused
    const std::int64_t deadline = sys::after(timeout_ns_);
    while (queue_.is_busy()) {
        pollfd fds[] = {{queue_.last_fd(), POLLIN, 0}, {cancel_, POLLIN, 0}};
        (void)::poll(fds, 2, 50);
        if (fds[1].revents != 0)
            return;
        if (sys::monotonic_ns() >= deadline)
            fail_late();
    }
    context_.counts.until_ns = sys::monotonic_ns();
    if (const int status = queue_.status(1); status < 0)
        fail_ended(-status);
}

void DmabufCycle::close() noexcept
{
    if (context_.counts.until_ns == 0)
        context_.counts.until_ns = sys::monotonic_ns();
    DmabufPlayback::close();
}

} // namespace
std::unique_ptr<Playback> make_dmabuf_cycle(const PlaybackContext& context)
{
    return std::make_unique<DmabufCycle>(context);
}

} // namespace iio_stream::iio
