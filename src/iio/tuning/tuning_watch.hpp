// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/spsc_queue.hpp"
#include "core/loss/completion_marks.hpp"
#include "core/loss/sample_tracker.hpp"
#include "iio/tuning/settings_reader.hpp"
#include "sys/device/file_watch.hpp"

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
/// Thread: read() on any; check() on the control thread; completed() on the source thread; reset()
/// and finish() on the owner's, while check() is not called.
class TuningWatch {
public:
    explicit TuningWatch(const FrontEnd& front);
    TuningWatch(const TuningWatch&) = delete;
    ~TuningWatch();

    /// Before a stream, at a rate in samples per second, 0 = unknown.
    void reset(double rate);
    /// The settings at that time.
    const Settings& first() const noexcept { return first_; }
    /// Reads the settings now.
    void read() noexcept;

    /// A completed block, the one after the tracker's position.
    struct Completed {
        std::uint64_t samples;
        std::int64_t ns;         ///< when it was complete, or later
        std::int64_t latest_ns;  ///< at most this much later; kAnyTime: by any time
        std::uint64_t in_flight; ///< samples device and kernel have room for after it
    };
    static constexpr std::int64_t kAnyTime = INT64_MAX;
    /// Passes to the tracker the changes that are known by then.
    void completed(detail::SampleTracker& tracker, const Completed& block);
    /// Once more, at the end of the stream.
    void finish(detail::SampleTracker& tracker);

    /// Notices other programs' writes to the settings from now on.
    void begin_watching() noexcept { files_.begin(); }
    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return files_.fd(); }

private:
    struct Change {
        std::int64_t since_ns; ///< the last reading before it
        std::int64_t until_ns; ///< the end of the reading that found it
        Settings settings;
    };
    static constexpr std::size_t kMaxChanges = 16; ///< that the source thread has not passed on yet

    void report(detail::SampleTracker& tracker, const Completed& block);
    std::uint64_t complete_at(std::int64_t ns) const;
    std::uint64_t begun_at(std::int64_t ns, const Completed& block, std::uint64_t end) const;

    SettingsReader settings_reader_;
    sys::FileWatch files_;
    std::int64_t due_ns_ = 0; ///< used by the control thread

    mutable std::mutex mutex_; ///< held during a reading
    Settings settings_, first_;
    bool streaming_ = false;
    detail::SpscQueue<Change> changes_{
        kMaxChanges}; ///< from any thread that holds the mutex to the source thread
    std::atomic<std::int64_t> read_ns_{
        0}; ///< the last reading; changes before it have been passed on

    // Used by the source thread.
    double rate_ = 0;
    detail::CompletionMarks marks_;
    std::uint64_t retunings_complete_until_ =
        0; ///< position before which all changes have been passed on
    std::int64_t final_read_ns_ =
        0; ///< the reading that it follows from, if no later block can raise it
};

/// While it lives, this process retunes a radio: reads those that stream before and after.
class TuningNotice {
public:
    TuningNotice() noexcept;
    TuningNotice(const TuningNotice&) = delete;
    ~TuningNotice();
};

} // namespace iio_stream::iio
