// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/spsc_queue.hpp"
#include "core/loss/completion_marks.hpp"
#include "core/loss/sample_tracker.hpp"
#include "iio/buffer/status_register.hpp"
#include "iio/loss/counter.hpp"
#include "iio/loss/rate_watch.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace iio_stream::iio {

/// Infers losses from a device's queue and its overflow register.
///
/// Starvation is a pause in which the queue is empty. The device's FIFO fills, and samples are lost
/// only when it is full. Its content comes first afterwards, so the loss is between the first
/// sample after the pause and as many samples later as were produced during it. If there is an
/// overflow register, the control thread reads it. If it is set, the starvations since the last
/// read are one certain gap; if it is clear, nothing was lost in them. Without a register each
/// stays a possible gap. A register found set without a starvation (an interrupt that came too
/// late) is a certain gap. It is a single bit: whatever the cause, the gap covers the whole time
/// since it was last read. If that reaches beyond the last sample of the stream, the loss may be
/// after it, and the gap is only possible. So the register is also read shortly before the end, for
/// what was lost until then.
///
/// The bit may be set when a stream begins. Most cores set it as long as no DMA takes their
/// samples, so its initial value is meaningless; the first read, right after the start, clears it.
/// If it had stayed clear until the start, a set one is a possible gap: some cores set it in being
/// switched on.
///
/// If it was set until the start and the first read finds it clear, the driver clears it too. ADI's
/// cf_axi_adc does so after it has submitted a block. A clear bit then does not rule out a loss; a
/// set one still is a loss. So that few are missed, before_enqueue() reads the register before each
/// block is submitted, unless a read takes too long.
///
/// Thread: restart(), ends_at(), before_enqueue(), queued(), starved(), pauses_known_until(),
/// completed(), report() and fd() on the source thread; check() and check_fd() on the control
/// thread; reset(), clear() and started() before either runs.
class OverflowDetector {
public:
    /// `rate` in samples per second at the start, 0 = unknown; `rates` watches it from then on.
    /// `holds`: the source waits if report() asks for it. `driver_clears`: the kernel's driver is
    /// known to clear the bit with each block, so that a clear one rules out no loss. `counter`, if
    /// given, gets the gaps in place of the tracker, and passes on what it does not rule out.
    void reset(std::optional<StatusRegister> overflow_register, double rate, RateWatch& rates,
               std::size_t block_samples, std::size_t blocks, bool holds,
               bool driver_clears = false, Counter* counter = nullptr);
    /// Samples from that position on are no longer wanted, as far as is known now; kUnknown: all
    /// are.
    void ends_at(std::uint64_t position) noexcept;

    /// Before the start, with the device off: clears what is not of this stream.
    void clear();
    /// The device was switched on, which began at `before_ns`. The first check() is to follow at
    /// once.
    void started(std::int64_t before_ns);

    /// Before its first block, the device was switched off; `switch_on` starts it once more.
    void restart(const std::function<void()>& switch_on);

    /// A block is about to be submitted to the driver.
    void before_enqueue();
    /// Whether before_enqueue() reads the register.
    bool is_read_before_enqueue() const noexcept { return cleared_by_others_ && is_fast_; }

    /// A block of the device's queue, the one after `position`, ended at `ns` (or later, if that is
    /// unknown) and was queued at `queued_ns`: if that was after the end of the previous one, the
    /// queue was empty.
    void queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position);
    /// The queue was empty from `begin_ns` to `end_ns`, before the sample at `position`.
    void starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position);
    /// All pauses that began before `known_ns` have been reported by queued() or starved().
    void pauses_known_until(std::int64_t known_ns) noexcept
    {
        known_ns_ = std::max(known_ns_, known_ns);
    }
    /// Samples up to `position` were complete at `ns`, and not yet at `not_before_ns`; all pauses
    /// up to `known_ns` have been reported.
    void completed(std::uint64_t position, std::int64_t ns, std::int64_t not_before_ns,
                   std::int64_t known_ns);
    /// Passes decided gaps to the tracker. False if a starvation is worth a short wait: the
    /// register is being read, and fd() becomes readable with the reading.
    bool report(detail::SampleTracker& tracker, std::int64_t now_ns);
    int fd() const noexcept { return reading_ready_.fd(); }
    std::int64_t wait_until_ns() const noexcept { return wait_until_ns_; }
    /// At the end of the stream, when check() is no longer called: reads the register once more.
    void read_at_end(detail::SampleTracker& tracker);
    /// After that: decides what is open, as far as possible, and passes it to the tracker.
    void finish(detail::SampleTracker& tracker);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return read_requested_.fd(); }
    bool has_register() const noexcept { return overflow_register_.has_value(); }
    /// Whether something else clears the bit.
    bool is_cleared_by_others() const noexcept { return cleared_by_others_; }
    /// Whether the register would have shown a loss, from the start of the stream to its end.
    bool register_is_evidence() const noexcept { return register_is_evidence_; }
    /// Whether the bit was found set because of a loss in this stream.
    bool has_found_loss() const noexcept { return loss_found_; }
    /// Samples the device should continue for at the end, while the register is read.
    std::uint64_t extra_samples_at_end() const noexcept;

private:
    /// One pause in which the queue was empty, or several that one reading decides.
    struct Starvation {
        std::int64_t begin_ns, end_ns;
        std::uint64_t first, until; ///< positions between which the loss is
        /// Samples produced while the loss may have happened; kUnknown without a rate.
        std::uint64_t made;
        bool confirmed = false;
    };
    struct RegisterReading {
        std::int64_t since_ns;           ///< the previous read of the register
        std::int64_t before_ns, read_ns; ///< just before and after this read
        bool overflowed;
        bool certain; ///< if so, by a loss
    };
    static constexpr std::size_t kMaxStarvations = 16;
    /// Readings that the source thread has not used yet.
    static constexpr std::size_t kMaxReadings = 128;
    /// How often the register is read, and how often at most out of turn.
    static constexpr std::chrono::nanoseconds kReadInterval = std::chrono::seconds(1);
    static constexpr std::int64_t kShortestReadInterval = 100'000'000;

    std::chrono::nanoseconds check_register();
    bool try_read();
    void read_register(bool only_set);
    void request_read(std::int64_t now_ns);
    void decide_until(std::int64_t read_ns);
    std::optional<RegisterReading> take_reading();
    void apply_reading(RegisterReading reading, detail::SampleTracker& tracker);
    bool mark_confirmed(const RegisterReading& reading);
    static Starvation merge(const Starvation& a, const Starvation& b);
    static Gap gap_of(const Starvation& starvation);
    Gap gap_of(const RegisterReading& reading) const;
    bool is_before_end(const RegisterReading& reading, const Gap& place) const;
    void schedule_last_read() noexcept;
    void report_unconfirmed(detail::SampleTracker& tracker);
    void report_gap(detail::SampleTracker& tracker, const Gap& gap);
    void remove(std::size_t index);
    std::uint64_t samples_in(std::int64_t ns, std::int64_t until_ns) const noexcept;

    std::optional<StatusRegister> overflow_register_;
    double rate_ = 0; ///< at the start
    RateWatch* rates_ = nullptr;
    Counter* counter_ = nullptr;
    std::uint64_t ahead_ = 0;   ///< samples that may be complete before completed() is called
    std::int64_t block_ns_ = 0; ///< duration of a block at the rate; 0 = unknown
    std::int64_t hold_ns_ = 0;  ///< how long a block may wait for the register

    // Used by the source thread.
    std::array<Starvation, kMaxStarvations> starvations_{};
    std::size_t starvation_count_ = 0;
    detail::CompletionMarks marks_;
    /// The position up to which the register has decided everything.
    std::optional<std::uint64_t> decided_;
    std::uint64_t end_ = kUnknown;   ///< where the stream ends
    detail::Mark latest_{0, 0};      ///< the last completion, or the start
    std::int64_t incomplete_ns_ = 0; ///< when its samples were not yet complete
    std::int64_t known_ns_ = 0;      ///< pauses up to then are among the starvations
    std::int64_t cleared_ns_ = 0;    ///< when the register was last found set, and cleared
    std::int64_t ended_ns_ = 0;      ///< when the latest block of the queue ended; 0 = none yet
    std::int64_t requested_ns_ = 0;  ///< when a read was last requested out of turn
    std::int64_t wait_until_ns_ = 0; ///< how long to wait for a reading

    // Shared by both.
    /// From either thread, under the mutex, to the source thread.
    detail::SpscQueue<RegisterReading> readings_{kMaxReadings};
    std::atomic<bool> read_failed_{false}; ///< of the register, at least once
    bool register_is_evidence_ = false;
    bool loss_found_ = false;
    std::atomic<bool> starved_since_read_{false};
    /// When to read the register shortly before the end; INT64_MAX = unknown.
    std::atomic<std::int64_t> before_end_ns_{INT64_MAX};
    sys::Event read_requested_, reading_ready_;

    /// From when on the bit is about this stream; 0 = not yet.
    std::atomic<std::int64_t> valid_from_ns_{0};
    bool set_while_idle_ = false; ///< the core sets the bit while no DMA takes its samples
    bool driver_clears_ = false;  ///< cleared_by_others_ from the beginning
    bool is_fast_ = false;        ///< the register can be read on the source thread
    std::atomic<bool> cleared_by_others_{false};

    // Used by the control thread, or for a restart.
    std::mutex register_mutex_;
    std::int64_t since_ns_ = 0;        ///< when the register was last read
    std::int64_t begun_ns_ = 0;        ///< before the start
    bool first_read_deferred_ = false; ///< until the stream has been started: the register is slow
    bool last_read_failed_ = false;    ///< nothing is known after since_ns_
};

} // namespace iio_stream::iio
