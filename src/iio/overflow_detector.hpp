// SPDX-License-Identifier: MIT
#pragma once

#include "core/sample_tracker.hpp"
#include "iio/rate_watch.hpp"
#include "iio/overflow_register.hpp"
#include "sys/event.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <optional>

namespace iio_stream::iio {

/// Concludes losses from what a device's queue and its overflow register tell.
///
/// The queue that runs empty is a suspicion: the device's FIFO fills from then on, and only when it
/// is full are samples lost. What the FIFO held comes first afterwards, so the loss lies between
/// the first sample after the pause and as many samples later as were made during it. Where there
/// is an overflow register, the control thread asks it: set, the suspicions since it was last asked
/// are one certain gap; clear, they were none at all. Without a register, or before its first look,
/// each stays a possible gap. A register that is found set without a suspicion (an interrupt that
/// came too late) makes a certain gap of the whole time since it was last found clear. It is one
/// bit: a loss of another cause in the same time as a suspicion is not told apart from it.
///
/// Thread: queued(), starved(), completed(), settled() and fd() are the source thread's; check(),
/// check_fd() the control thread's; reset() before either runs.
class OverflowDetector {
public:
    /// `rate` in samples per second at the start, 0 = unknown; `rates` watches it from then on.
    /// `holds`: the source waits where settled() asks it to.
    void reset(std::optional<OverflowRegister> overflow_register, double rate, RateWatch& rates,
               std::size_t block_samples, std::size_t blocks, bool holds);

    /// A block of the device's queue, the one after `position`, ended at `ns`, or later where that
    /// is not known, and had been queued at `queued_ns`: later than the one before it ended, the
    /// queue was empty.
    void queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position);
    /// The queue was empty from `begin_ns` to `end_ns`, before the sample at `position`.
    void starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position);
    /// The samples up to `position` were complete at `ns`, and all pauses up to `known_ns` are
    /// told.
    void completed(std::uint64_t position, std::int64_t ns, std::int64_t known_ns);
    /// Passes the gaps that are decided to the tracker. False where a suspicion is worth waiting
    /// for a moment: the register is being asked, and fd() becomes readable with its answer.
    bool settled(detail::SampleTracker& tracker, std::int64_t now_ns);
    int fd() const noexcept { return answered_.fd(); }
    std::int64_t wait_until_ns() const noexcept { return wait_until_ns_; }
    /// At the stream's end, when check() is called no more: asks the register once more.
    void look_last();
    /// Then what is open is decided, as far as it can be. `running`: the device had blocks to fill
    /// until the register was read, so that a bit that is set tells of this stream's samples.
    void conclude(detail::SampleTracker& tracker, bool running);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return asked_.fd(); }
    bool has_register() const noexcept { return overflow_register_.has_value(); }
    /// Whether the register was asked from the stream's start to its end.
    bool has_vouched() const noexcept { return vouched_; }
    /// Samples that the device should go on with at the end, while the register is read.
    std::uint64_t run_on() const noexcept;

private:
    /// One pause, or several that one answer decides.
    struct Suspicion {
        std::int64_t begin_ns, end_ns;
        std::uint64_t first, last; ///< positions of the first and the last pause
        std::uint64_t made;        ///< samples in all of them, kUnknown where the rate is
        bool confirmed = false;
    };
    struct Answer {
        std::int64_t since_ns;          ///< when the register was read the last time before
        std::int64_t asked_ns, read_ns; ///< right before and after it was read
        bool overflowed;
    };
    struct Mark {
        std::uint64_t position;
        std::int64_t ns;
    };
    static constexpr std::size_t kMax = 16;
    /// The interrupt handler that dates a fence may run this much after the event.
    static constexpr std::int64_t kInterruptLatency = 20'000'000;
    static constexpr std::size_t kMarks = 256;

    void ask(std::int64_t now_ns);
    void settle(std::int64_t looked_ns);
    bool take_answer(Answer& answer);
    void hear(const Answer& answer, detail::SampleTracker& tracker);
    bool confirm(const Answer& answer);
    static Suspicion joined(const Suspicion& a, const Suspicion& b);
    static Gap gap_of(const Suspicion& suspicion);
    Gap gap_of(const Answer& answer) const;
    void give_up(detail::SampleTracker& tracker);
    void drop(std::size_t index);
    std::uint64_t made_in(std::int64_t ns, std::int64_t until_ns) const noexcept;

    std::optional<OverflowRegister> overflow_register_;
    double rate_ = 0; ///< at the start
    RateWatch* rates_ = nullptr;
    std::int64_t block_ns_ = 0; ///< what a block takes at the rate, 0 = unknown
    std::int64_t hold_ns_ = 0;  ///< how long a block may wait for the register's word

    // The source thread's.
    std::array<Suspicion, kMax> suspicions_{};
    std::size_t suspected_ = 0;
    std::array<Mark, kMarks> marks_{}; ///< completions of the last seconds, a ring
    std::size_t marked_ = 0;
    std::optional<std::uint64_t>
        settled_;               ///< position before which the register has nothing more to tell
    std::int64_t known_ns_ = 0; ///< pauses up to then are among the suspicions
    std::int64_t wiped_ns_ = 0; ///< when the register was last found set, and cleared
    std::int64_t ended_ns_ = 0; ///< when the latest block of the queue ended, 0 = none yet
    std::int64_t asked_ns_ = 0; ///< when the register was last asked for, out of turn
    std::int64_t wait_until_ns_ = 0; ///< how long an answer is waited for

    // Between the two: answers, from the control thread to the source thread.
    std::array<Answer, kMax> answers_{};
    alignas(64) std::atomic<std::size_t> given_{0};
    alignas(64) std::atomic<std::size_t> taken_{0};
    std::atomic<bool> failed_{false}; ///< a look at the register
    bool vouched_ = false;
    std::atomic<bool> suspecting_{false}; ///< something was suspected since the last look
    sys::Event asked_, answered_;

    /// When the register's first look wiped what was before it; 0 = not yet. Answers count from
    /// then.
    std::atomic<std::int64_t> primed_ns_{0};

    // The control thread's.
    std::int64_t since_ns_ = 0; ///< when the register was last read; 0 = not yet
    bool put_off_ = false;      ///< the first look, by a slow register
    bool blind_ = false;        ///< the last look failed: nothing is known since since_ns_
};

} // namespace iio_stream::iio
