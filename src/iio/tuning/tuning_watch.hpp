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

/// Detects when any program retunes a radio that is streaming. It reads the settings once a second,
/// and as soon as one of their files is written.
///
/// If two consecutive readings differ, the settings changed between them. Samples that were
/// complete before the first reading have the old settings. Samples that had certainly not been
/// produced at the second reading have the new settings. This follows from the times of the blocks,
/// or from the number of samples that the device can hold. Settings that change and change back
/// between two readings go unnoticed.
///
/// Thread: read() on any thread; check() on the control thread; completed() on the source thread;
/// reset() and finish() on the owner's thread, while check() is not called.
class TuningWatch {
public:
    explicit TuningWatch(const FrontEnd& front);
    TuningWatch(const TuningWatch&) = delete;
    ~TuningWatch();

    /// Call before a stream. `rate`: samples per second, 0 = unknown.
    void reset(double rate);
    /// The settings when reset() was called.
    const Settings& first() const noexcept { return first_; }
    /// Reads the settings now.
    void read() noexcept;

    /// A completed block, which starts at the tracker's position.
    struct Completed {
        std::uint64_t samples;
        std::int64_t ns;         ///< when the block was complete, or later
        std::int64_t latest_ns;  ///< `ns` is at most this much later; kAnyTime = unlimited
        std::uint64_t in_flight; ///< samples that device and kernel can hold after it
    };
    static constexpr std::int64_t kAnyTime = INT64_MAX;
    /// Passes the changes that are known so far to the tracker.
    void completed(detail::SampleTracker& tracker, const Completed& block);
    /// Call at the end of the stream. Passes the last changes to the tracker.
    void finish(detail::SampleTracker& tracker);

    /// Notices other programs' writes to the settings from now on.
    void begin_watching() noexcept { files_.begin(); }
    std::chrono::nanoseconds check();
    int check_fd() const noexcept { return files_.fd(); }

private:
    struct Change {
        std::int64_t since_ns; ///< the last reading before the change
        std::int64_t until_ns; ///< the end of the reading that found the change
        Settings settings;
    };
    /// Capacity for changes that the source thread has not passed on yet.
    static constexpr std::size_t kMaxChanges = 16;

    void report(detail::SampleTracker& tracker, const Completed& block);
    std::uint64_t complete_at(std::int64_t ns) const;
    std::uint64_t begun_at(std::int64_t ns, const Completed& block, std::uint64_t end) const;

    SettingsReader settings_reader_;
    sys::FileWatch files_;
    std::int64_t due_ns_ = 0; ///< used by the control thread

    mutable std::mutex mutex_; ///< held during a reading
    Settings settings_, first_;
    bool streaming_ = false;
    /// Any thread that holds the mutex adds changes; the source thread takes them.
    detail::SpscQueue<Change> changes_{kMaxChanges};
    /// Time of the last reading. Earlier changes are already in changes_.
    std::atomic<std::int64_t> read_ns_{0};

    // Used by the source thread.
    double rate_ = 0;
    detail::CompletionMarks marks_;
    /// Position before which all changes have been passed on.
    std::uint64_t retunings_complete_until_ = 0;
    /// Time of the reading that determines retunings_complete_until_, if later blocks cannot raise
    /// that position.
    std::int64_t final_read_ns_ = 0;
};

/// Hold this object while this process retunes a radio. The constructor and the destructor read the
/// settings of all radios that are streaming in this process.
class TuningNotice {
public:
    TuningNotice() noexcept;
    TuningNotice(const TuningNotice&) = delete;
    ~TuningNotice();
};

} // namespace iio_stream::iio
