// SPDX-License-Identifier: MIT
#pragma once

#include "file/parts/part.hpp"
#include "file/parts/task_thread.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace iio_stream::file {

/// Prepares the next part and announces its start, on a thread of its own.
/// Thread: one thread calls all functions. The part belongs to the internal thread until made() is
/// true.
class NextPart {
public:
    /// `task_done` is set when a task has ended.
    explicit NextPart(sys::Event& task_done) : maker_(task_done) {}

    /// Prepares for a new recording, whose first part is already prepared.
    void reset() noexcept;
    /// Starts to prepare `part`. `start`: where the part is expected to begin, if that is
    /// predictable.
    void make(std::shared_ptr<Part> part, const StreamInfo& info, BlockPool& pool, int cancel,
              const std::optional<PartStart>& start);
    /// Announces `start` as the new expected start of the part that is being prepared. Does nothing
    /// while the internal thread is busy.
    void expect(const PartStart& start);
    /// Whether make() has been called since the last take().
    bool asked() const noexcept { return asked_; }
    /// Whether the part is ready, or preparing it has failed.
    bool made() const noexcept;
    /// Returns the prepared part. Throws if preparing it failed.
    std::shared_ptr<Part> take();
    /// Whether the start of `part` (the part taken last, or the first one) is on the disk. If not,
    /// starts to announce it; `task_done` is set when the announcement has ended. Throws if an
    /// announcement failed.
    bool announced(const std::shared_ptr<Part>& part, const PartStart& start);
    /// Waits for the internal thread. Returns the part that was not taken, if there is one.
    std::shared_ptr<Part> abandon() noexcept;

private:
    void announce(const std::shared_ptr<Part>& part, const PartStart& start);

    bool asked_ = false;
    std::optional<PartStart> start_ =
        PartStart{};             ///< the last announced start; the default needs no announcement
    std::shared_ptr<Part> part_; ///< belongs to the internal thread until made_
    std::atomic<bool> made_{false};
    TaskThread maker_;
};

} // namespace iio_stream::file
