// SPDX-License-Identifier: MIT
#pragma once

#include "core/sample_tracker.hpp"
#include "iio/overflow_register.hpp"
#include "iio/rate_watch.hpp"
#include "sys/event.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace iio_stream::iio {

/// Infers losses from a device's queue and its overflow register.
///
/// A queue that runs empty is a suspicion: from then on the device's FIFO fills, and only when it
/// is full are samples lost. Its content comes first afterwards, so the loss is between the first
/// sample after the pause and as many samples later as were produced during it. If there is an
/// overflow register, the control thread reads it: if set, the suspicions since the last read are
/// one certain gap; if clear, they were no loss at all. Without a register each stays a possible
/// gap. A register found set without a suspicion (an interrupt that came too late) is a certain
/// gap. It is a single bit: whatever the cause, the gap covers the whole time since it was last
/// read. If that reaches beyond the last sample of the stream, the loss may be after it, and the
/// gap is only possible. So the register is also read shortly before the end, for what was lost
/// until then.
///
/// The bit may be set when a stream begins. Most cores set it as long as no DMA takes their
/// samples, so that what it says at first is of no use; the first read, right after the start,
/// clears it. If it had stayed clear until the start, a set one is a possible gap: some cores set
/// it in being switched on.
///
/// If it was set until the start and the first read finds it clear, something else clears it, as
/// ADI's own driver does with each block. A clear bit then says nothing; a set one still is a loss.
///
/// Thread: restart(), ends_at(), queued(), starved(), completed(), settled() and fd() on the source
/// thread; check() and check_fd() on the control thread; reset(), clear() and started() before
/// either runs.
class OverflowDetector {
public:
    /// `rate` in samples per second at the start, 0 = unknown; `rates` watches it from then on.
    /// `holds`: the source waits if settled() asks for it. `driver_clears`: the kernel's driver is
    /// known to clear the bit with each block, so that a clear one rules out no loss.
    void reset(std::optional<OverflowRegister> overflow_register, double rate, RateWatch& rates,
               std::size_t block_samples, std::size_t blocks, bool holds,
               bool driver_clears = false);
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

    /// A block of the device's queue, the one after `position`, ended at `ns` (or later, if that is
    /// unknown) and was queued at `queued_ns`: if that was after the end of the previous one, the
    /// queue was empty.
    void queued(std::int64_t queued_ns, std::int64_t ns, std::uint64_t position);
    /// The queue was empty from `begin_ns` to `end_ns`, before the sample at `position`.
    void starved(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t position);
    /// Samples up to `position` were complete at `ns`, and not yet at `not_before_ns`; all pauses
    /// up to `known_ns` have been reported.
    void completed(std::uint64_t position, std::int64_t ns, std::int64_t not_before_ns,
                   std::int64_t known_ns);
    /// Passes decided gaps to the tracker. False if a suspicion is worth a short wait: the register
    /// is being read, and fd() becomes readable with the answer.
    bool settled(detail::SampleTracker& tracker, std::int64_t now_ns);
    int fd() const noexcept { return answered_.fd(); }
    std::int64_t wait_until_ns() const noexcept { return wait_until_ns_; }
    /// At the end of the stream, when check() is no longer called: reads the register once more.
    void look_last(detail::SampleTracker& tracker);
    /// After that, decides what is open, as far as possible.
    void conclude(detail::SampleTracker& tracker);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return asked_.fd(); }
    bool has_register() const noexcept { return overflow_register_.has_value(); }
    /// Whether something else clears the bit.
    bool is_cleared_by_others() const noexcept { return others_clear_; }
    /// Whether a loss would have been read from the register, from the start of the stream to its
    /// end.
    bool has_vouched() const noexcept { return vouched_; }
    /// Samples the device should continue for at the end, while the register is read.
    std::uint64_t run_on() const noexcept;

private:
    /// One pause, or several that one answer decides.
    struct Suspicion {
        std::int64_t begin_ns, end_ns;
        std::uint64_t first, until; ///< positions between which the loss is
        std::uint64_t
            made; ///< samples produced while it may have happened; kUnknown without a rate
        bool confirmed = false;
    };
    struct Answer {
        std::int64_t since_ns;          ///< the previous read of the register
        std::int64_t asked_ns, read_ns; ///< just before and after the read
        bool overflowed;
        bool certain; ///< if so, by a loss
    };
    struct Mark {
        std::uint64_t position;
        std::int64_t ns;
    };
    static constexpr std::size_t kMax = 16;
    /// How late the interrupt handler may set the time of a fence.
    static constexpr std::int64_t kInterruptLatency = 20'000'000;
    static constexpr std::size_t kMarks = 256;
    /// How often the register is read, and how often at most out of turn.
    static constexpr std::chrono::nanoseconds kRoutine = std::chrono::seconds(1);
    static constexpr std::int64_t kAskEvery = 100'000'000;

    std::chrono::nanoseconds check_register();
    void look();
    void ask(std::int64_t now_ns);
    void settle(std::int64_t looked_ns);
    bool take_answer(Answer& answer);
    void hear(Answer answer, detail::SampleTracker& tracker);
    bool confirm(const Answer& answer);
    static Suspicion joined(const Suspicion& a, const Suspicion& b);
    static Gap gap_of(const Suspicion& suspicion);
    Gap gap_of(const Answer& answer) const;
    bool is_before_end(const Answer& answer, const Gap& place) const;
    void expect_end() noexcept;
    void give_up(detail::SampleTracker& tracker);
    void drop(std::size_t index);
    std::uint64_t made_in(std::int64_t ns, std::int64_t until_ns) const noexcept;

    std::optional<OverflowRegister> overflow_register_;
    double rate_ = 0; ///< at the start
    RateWatch* rates_ = nullptr;
    std::uint64_t ahead_ = 0;   ///< samples that may be complete before completed() is called
    std::int64_t block_ns_ = 0; ///< duration of a block at the rate; 0 = unknown
    std::int64_t hold_ns_ = 0;  ///< how long a block may wait for the register

    // Used by the source thread.
    std::array<Suspicion, kMax> suspicions_{};
    std::size_t suspected_ = 0;
    std::array<Mark, kMarks> marks_{}; ///< completions of the last seconds, a ring
    std::size_t marked_ = 0;
    std::optional<std::uint64_t>
        settled_;                    ///< position up to which the register has decided everything
    std::uint64_t end_ = kUnknown;   ///< where the stream ends
    Mark latest_{0, 0};              ///< the last completion, or the start
    std::int64_t incomplete_ns_ = 0; ///< when its samples were not yet complete
    std::int64_t known_ns_ = 0;      ///< pauses up to then are among the suspicions
    std::int64_t wiped_ns_ = 0;      ///< when the register was last found set, and cleared
    std::int64_t ended_ns_ = 0;      ///< when the latest block of the queue ended; 0 = none yet
    std::int64_t asked_ns_ = 0;      ///< when a read was last requested out of turn
    std::int64_t wait_until_ns_ = 0; ///< how long to wait for an answer

    // Shared by both: answers, from the control thread to the source thread.
    std::array<Answer, kMax> answers_{};
    alignas(64) std::atomic<std::size_t> given_{0};
    alignas(64) std::atomic<std::size_t> taken_{0};
    std::atomic<bool> failed_{false}; ///< a read of the register
    bool vouched_ = false;
    std::atomic<bool> suspecting_{false}; ///< something was suspected since the last read
    /// When to read the register shortly before the end; INT64_MAX = unknown.
    std::atomic<std::int64_t> before_end_ns_{INT64_MAX};
    sys::Event asked_, answered_;

    /// From when on the bit is about this stream; 0 = not yet.
    std::atomic<std::int64_t> primed_ns_{0};
    bool idle_sets_ = false;     ///< the core sets the bit while no DMA takes its samples
    bool driver_clears_ = false; ///< others_clear_ from the beginning
    std::atomic<bool> others_clear_{false};

    // Used by the control thread, or for a restart.
    std::mutex looking_;
    std::int64_t since_ns_ = 0; ///< when the register was last read
    std::int64_t begun_ns_ = 0; ///< before the start
    bool put_off_ = false;      ///< the first read, for a slow register
    bool blind_ = false;        ///< the last read failed: nothing is known after since_ns_
};

} // namespace iio_stream::iio
