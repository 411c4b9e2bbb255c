// SPDX-License-Identifier: MIT
// How cyclic=on plays DMABUFs: one block that the DMA repeats by itself, or several in turn.
//
// Only a test shows whether the hardware can repeat a block. Linux up to 7.2 accepts
// IIO_BUFFER_DMABUF_CYCLIC and plays the block once. Since 7.3, Linux repeats the block and
// meanwhile refuses a second one (EBUSY on its fence). The first blocks are therefore all queued as
// cyclic, and the fence of the second one shows which kernel this is. If the second block is not
// refused, the blocks are an ordinary queue, which software continues without a seam.
//
// If the core cannot repeat a transfer, the driver restarts it at the interrupt that ends each
// round. If the block is one segment, the core pauses until then. No interface of the kernel
// reports that a core is of this kind, so the user has to choose cyclic=software for it. The
// underflow register shows the pauses.
#include "core/base/text.hpp"
#include "iio/playback/dmabuf_playback.hpp"
#include "sys/event.hpp"

#include <cerrno>

namespace iio_stream::iio {
namespace {

/// Samples for this long must be queued during the test, in case software has to play the rest.
constexpr double kCyclicTestSeconds = 0.05;

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
    void go_on(std::size_t from);
    void begin_in_software();
    void repeat();
    void end_hardware();

    std::size_t next_ = 0; ///< the cycle's entry that is at the front of the queue
    bool tried_ = false;   ///< the queued blocks are cyclic, and none has completed
    bool draining_ = false;
};

bool DmabufCycle::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why)
{
    next_ = 0;
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

// The number of entries that suffice to show what the kernel does. The kernel logs a line for each
// entry that it refuses.
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

// Nothing more has to be done: the fence of the first block stays open until the device is switched
// off.
void DmabufCycle::leave_to_hardware()
{
    tried_ = false;
    queue_.keep_first();
    PlaybackCounts& counts = context_.counts;
    counts.since_ns = queue_.on_ns();
    counts.repeating = Repeating::hardware;
    // For UnderflowRegisterWatch: the device plays and never runs empty.
    counts.given = 4;
    counts.moves = 1;
    counts.begun = true;
    detail::add_clause(remark_, "repeated in hardware: the DMA restarts the same block each time");
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

// The kernel accepted this block and the next as cyclic, and does not report that it repeats the
// first.
void DmabufCycle::begin_in_software()
{
    tried_ = false;
    if (context_.cyclic == Cyclic::hardware)
        fail_late();
    context_.dir.disable();
    queue_.renew(false);
    remark_.clear();
    switch_on();
    detail::add_clause(remark_, "repeated in software, restarted: the kernel does not report that "
                                "it repeats, and no block was finished within the deadline");
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
            return; // the canceller reports the reason
        service();
    }
}

// A block that is queued after the repeated one ends the repetition at the end of a round and is
// played once, so the last round is complete.
void DmabufCycle::end_hardware()
{
    const Cycle::Entry last = cycle_.entries()[1];
    (void)queue_.enqueue(last.index, last.bytes); // it counts as stuck, because it was refused
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
