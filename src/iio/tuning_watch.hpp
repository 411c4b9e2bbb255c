// SPDX-License-Identifier: MIT
#pragma once

#include "core/sample_tracker.hpp"
#include "iio/dials.hpp"
#include "sys/file_watch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

namespace iio_stream::iio {

/// Detects when any program retunes a radio while it streams: reads its settings once a second, and
/// as soon as one of their files is written.
///
/// The settings changed between two readings that differ. Samples complete before the first have
/// the old ones. Samples certainly not yet produced at the second, by the times of the blocks or
/// because the device had no room for them, have the new ones. Settings that change and change back
/// between two readings go unnoticed.
///
/// Thread: look() on any; check() on the control thread; completed() on the source thread; reset()
/// and conclude() on the owner's, while check() is not called.
class TuningWatch {
public:
    explicit TuningWatch(const FrontEnd& front);
    TuningWatch(const TuningWatch&) = delete;
    ~TuningWatch();

    /// Before a stream, at a rate in samples per second, 0 = unknown.
    void reset(double rate);
    /// The settings at that time.
    const Settings& first() const noexcept { return first_; }
    void look() noexcept;

    /// A completed block, the one after the tracker's position.
    struct Completed {
        std::uint64_t samples;
        std::int64_t ns;         ///< when it was complete, or later
        std::int64_t latest_ns;  ///< at most this much later; kAnyTime: by any time
        std::uint64_t in_flight; ///< samples device and kernel have room for after it
    };
    static constexpr std::int64_t kAnyTime = INT64_MAX;
    /// How late the interrupt handler sets the time of a DMA's block. A judgement, not a bound.
    static constexpr std::int64_t kByInterrupt = 100'000'000;
    /// Passes what is known by then to the tracker.
    void completed(detail::SampleTracker& tracker, const Completed& block);
    /// Once more, at the end of the stream.
    void conclude(detail::SampleTracker& tracker);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return files_.fd(); }

private:
    struct Change {
        std::int64_t since_ns; ///< the last reading before it
        std::int64_t until_ns; ///< the end of the reading that found it
        Settings settings;
    };
    struct Mark {
        std::uint64_t position;
        std::int64_t ns;
    };
    static constexpr std::size_t kMax = 16;
    static constexpr std::size_t kMarks = 256;

    void tell(detail::SampleTracker& tracker, const Completed& block);
    std::uint64_t complete_at(std::int64_t ns) const;
    std::uint64_t begun_at(std::int64_t ns, const Completed& block, std::uint64_t end) const;

    Dials dials_;
    sys::FileWatch files_;
    std::int64_t due_ns_ = 0; ///< used by the control thread

    mutable std::mutex mutex_; ///< held during a reading
    Settings settings_, first_;
    bool streaming_ = false;
    std::array<Change, kMax> changes_{};
    std::atomic<std::size_t> given_{0}, taken_{0};
    std::atomic<std::int64_t> looked_ns_{
        0}; ///< the last reading; changes before it have been passed on

    // Used by the source thread.
    double rate_ = 0;
    std::array<Mark, kMarks> marks_{}; ///< completions of the last seconds, a ring
    std::size_t marked_ = 0;
    std::uint64_t vouched_ = 0;
    std::int64_t vouched_ns_ = 0; ///< the look that it is of, if no later block can raise it
};

/// While it lives, this process retunes a radio: reads those that stream before and after.
class TuningNotice {
public:
    TuningNotice() noexcept;
    TuningNotice(const TuningNotice&) = delete;
    ~TuningNotice();
};

} // namespace iio_stream::iio
