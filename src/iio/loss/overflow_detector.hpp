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

/// The last read of the overflow register comes within this many seconds after the last block, plus
/// the time that the read takes.
inline constexpr double kExtraSeconds = 0.05;

/// Infers losses from a device's queue and its overflow register.
///
/// A starvation is a pause in which the queue is empty. The FIFO of the device fills, and samples
/// are lost only when it is full. After the pause the content of the FIFO arrives first. The loss
/// therefore lies within the first N samples after the pause, where N is the number of samples that
/// the device produced during the pause. If there is an overflow register, the control thread reads
/// it. If the bit is set, the starvations since the last read become one certain gap; if it is
/// clear, nothing was lost in them. Without a register, each starvation stays a possible gap. A bit
/// that is set without a starvation (because an interrupt came too late) is a certain gap. The
/// register has a single bit for all causes, so the gap covers the whole time since the last read.
/// If that time extends beyond the last sample of the stream, the loss might be after the end, and
/// the gap is only possible. The register is therefore also read shortly before the end, to find
/// the losses until then.
///
/// The bit can be set when a stream begins. Most cores set it while no DMA takes their samples, so
/// its initial value is meaningless; the first read, right after the start, clears it. If the bit
/// was clear until the start and the first read finds it set, the gap is only possible: some cores
/// set the bit when they are switched on.
///
/// If the bit was set until the start and the first read finds it clear, the driver clears it too.
/// ADI's cf_axi_adc does so after it has submitted a block. A clear bit then does not rule out a
/// loss, but a set bit still means a loss. To miss as few losses as possible, before_enqueue()
/// reads the register before each block is submitted, unless a read takes too long.
///
/// Thread: restart(), ends_at(), before_enqueue(), queued(), starved(), pauses_known_until(),
/// completed(), report() and fd() on the source thread; check() and check_fd() on the control
/// thread; reset(), clear() and started() before either runs.
class OverflowDetector {
public:
    /// `rate`: samples per second at the start, 0 = unknown; `rates` follows it from then on.
    /// `holds`: the source holds a block back while report() returns false. `driver_clears`: the
    /// kernel's driver is known to clear the bit with each block, so a clear bit does not rule out
    /// a loss. `counter`, if given, receives the gaps in place of the tracker, and passes on those
    /// that it does not rule out.
    void reset(std::optional<StatusRegister> overflow_register, double rate, RateWatch& rates,
               std::size_t block_samples, std::size_t blocks, bool holds,
               bool driver_clears = false, Counter* counter = nullptr);
    /// Sets the position at which the stream ends, as far as it is known now; kUnknown = no end. A
    /// loss after the end does not concern the stream.
    void ends_at(std::uint64_t position) noexcept;

    /// Clears a bit that was set before this stream. Call it before the start, while the device is
    /// off.
    void clear();
    /// Call after the device has been switched on. `before_ns` is a time just before that. The
    /// first check() must follow immediately.
    void started(std::int64_t before_ns);

    /// Restarts the detector after the device was switched off before its first block. Calls
    /// `switch_on`, which starts the device again.
    void restart(const std::function<void()>& switch_on);

    /// Call just before a block is submitted to the driver.
    void before_enqueue();
    /// Whether before_enqueue() reads the register.
    bool is_read_before_enqueue() const noexcept { return cleared_by_others_ && is_fast_; }

    /// Adds a block of the device's queue. The block starts at `position`, was queued at
    /// `queued_ns` and ended at `ns`, or later than `ns` if the time is not known. If it was queued
    /// after the end of the previous block, the queue was empty in between.
    void queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position);
    /// Adds a pause: the queue was empty from `begin_ns` to `end_ns`, before the sample at
    /// `position`.
    void starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position);
    /// Call when all pauses that began before `known_ns` have been added by queued() or starved(),
    /// or will be added before the next report().
    void pauses_known_until(std::int64_t known_ns) noexcept
    {
        known_ns_ = std::max(known_ns_, known_ns);
    }
    /// Adds a completion: the samples before `position` were complete at `ns`, but not yet at
    /// `not_before_ns`. `known_ns` is as for pauses_known_until().
    void completed(std::uint64_t position, std::int64_t ns, std::int64_t not_before_ns,
                   std::int64_t known_ns);
    /// Passes decided gaps to the tracker. Returns false if the caller should wait because of a
    /// starvation, until wait_until_ns() at the latest. The register is then being read, and fd()
    /// becomes readable when the reading is available.
    bool report(detail::SampleTracker& tracker, std::int64_t now_ns);
    int fd() const noexcept { return reading_ready_.fd(); }
    std::int64_t wait_until_ns() const noexcept { return wait_until_ns_; }
    /// Reads the register once more at the end of the stream, when check() is no longer called.
    void read_at_end(detail::SampleTracker& tracker);
    /// Call after read_at_end(). Decides the remaining starvations as far as possible, and passes
    /// them to the tracker.
    void finish(detail::SampleTracker& tracker);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return read_requested_.fd(); }
    bool has_register() const noexcept { return overflow_register_.has_value(); }
    /// Whether something other than this class also clears the bit.
    bool is_cleared_by_others() const noexcept { return cleared_by_others_; }
    /// Whether the register would have shown any loss between the start of the stream and its end.
    bool register_is_evidence() const noexcept { return register_is_evidence_; }
    /// Whether the bit was found set because of a loss in this stream.
    bool has_found_loss() const noexcept { return loss_found_; }
    /// Number of samples that the device should produce beyond the end while the register is read.
    std::uint64_t extra_samples_at_end() const noexcept;

private:
    /// One pause in which the queue was empty, or several that one reading decides.
    struct Starvation {
        std::int64_t begin_ns, end_ns;
        std::uint64_t first, until; ///< positions between which the loss lies
        /// Samples produced in the time in which the loss can have happened; kUnknown without a
        /// rate.
        std::uint64_t made;
        bool confirmed = false;
    };
    struct RegisterReading {
        std::int64_t since_ns;           ///< the previous read of the register
        std::int64_t before_ns, read_ns; ///< just before and after this read
        bool overflowed;
        bool certain; ///< a set bit certainly means a loss
    };
    static constexpr std::size_t kMaxStarvations = 16;
    /// Capacity for readings that the source thread has not used yet.
    static constexpr std::size_t kMaxReadings = 128;
    /// Interval of the regular reads of the register, and shortest interval of additional reads.
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
    double rate_ = 0; ///< samples per second at the start; 0 = unknown
    RateWatch* rates_ = nullptr;
    Counter* counter_ = nullptr;
    std::uint64_t ahead_ = 0;   ///< samples that can be complete before completed() is called
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
    std::int64_t incomplete_ns_ = 0; ///< when the samples of latest_ were not yet complete
    std::int64_t known_ns_ = 0;      ///< all pauses that began earlier are known
    std::int64_t cleared_ns_ = 0;    ///< when the bit was last found set, and cleared
    std::int64_t ended_ns_ = 0;      ///< when the latest block of the queue ended; 0 = none yet
    std::int64_t requested_ns_ = 0;  ///< when a read was last requested out of turn
    std::int64_t wait_until_ns_ = 0; ///< end of the wait for a reading

    // Shared by both threads.
    /// Either thread adds readings, under the mutex; the source thread takes them.
    detail::SpscQueue<RegisterReading> readings_{kMaxReadings};
    std::atomic<bool> read_failed_{false}; ///< a read of the register has failed
    bool register_is_evidence_ = false;
    bool loss_found_ = false;
    std::atomic<bool> starved_since_read_{false};
    /// When to read the register shortly before the end; INT64_MAX = unknown.
    std::atomic<std::int64_t> before_end_ns_{INT64_MAX};
    sys::Event read_requested_, reading_ready_;

    /// The time from which the bit concerns this stream; 0 = it does not yet.
    std::atomic<std::int64_t> valid_from_ns_{0};
    bool set_while_idle_ = false; ///< the core sets the bit while no DMA takes its samples
    bool driver_clears_ = false;  ///< initial value of cleared_by_others_
    bool is_fast_ = false;        ///< the register can be read on the source thread
    std::atomic<bool> cleared_by_others_{false};

    // Used by the control thread, or for a restart.
    std::mutex register_mutex_;
    std::int64_t since_ns_ = 0; ///< when the register was last read
    std::int64_t begun_ns_ = 0; ///< time just before the start
    /// The register is slow, so the first read waits for the start.
    bool first_read_deferred_ = false;
    bool last_read_failed_ = false; ///< losses after since_ns_ are not known
};

} // namespace iio_stream::iio
