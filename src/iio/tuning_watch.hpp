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

/// Detects that any program retunes a radio while it streams: reads its settings once a second, and as
/// soon as one of their files is written to.
///
/// The settings changed between two looks that differ. Samples that were complete before the first
/// have the old ones. Samples that were certainly not made yet at the second, by the times of the
/// blocks or because the device had no room for them, have the new ones. Settings that change and
/// change back between two looks are not seen.
///
/// Thread: look() any; check() the control thread's; completed() the source thread's; reset() and
/// conclude() the owner's, while check() is not called.
class TuningWatch {
public:
    explicit TuningWatch(const FrontEnd& front);
    TuningWatch(const TuningWatch&) = delete;
    ~TuningWatch();

    /// Before a stream, at a rate in samples per second, 0 = unknown.
    void reset(double rate);
    /// As they were then.
    const Settings& first() const noexcept { return first_; }
    void look() noexcept;

    /// A block that is complete, the one after the tracker' position.
    struct Completed {
        std::uint64_t samples;
        std::int64_t ns;         ///< when it was complete, or later
        std::int64_t latest_ns;  ///< by so much at most; kAnyTime: by any time
        std::uint64_t in_flight; ///< samples that device and kernel have room for after it
    };
    static constexpr std::int64_t kAnyTime = INT64_MAX;
    /// The handler of the interrupt dates a DMA's block. A judgement, not a bound.
    static constexpr std::int64_t kByInterrupt = 100'000'000;
    /// Passes to the tracker what is known by then.
    void completed(detail::SampleTracker& tracker, const Completed& block);
    /// At the stream's end, once more.
    void conclude(detail::SampleTracker& tracker);

    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return files_.fd(); }

private:
    struct Change {
        std::int64_t since_ns; ///< the last look before it
        std::int64_t until_ns; ///< the end of the look that found it
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
    std::int64_t due_ns_ = 0; ///< the control thread's

    mutable std::mutex mutex_; ///< of a look
    Settings settings_, first_;
    bool streaming_ = false;
    std::array<Change, kMax> changes_{};
    std::atomic<std::size_t> given_{0}, taken_{0};
    std::atomic<std::int64_t> looked_ns_{0}; ///< the last look; changes before it are given

    // The source thread's.
    double rate_ = 0;
    std::array<Mark, kMarks> marks_{}; ///< completions of the last seconds, a ring
    std::size_t marked_ = 0;
    std::uint64_t vouched_ = 0;
    std::int64_t vouched_ns_ = 0; ///< the look that it is of, if no later block can raise it
};

/// While it lives this process retunes a radio: reads those that stream before and after.
class TuningNotice {
public:
    TuningNotice() noexcept;
    TuningNotice(const TuningNotice&) = delete;
    ~TuningNotice();
};

} // namespace iio_stream::iio
