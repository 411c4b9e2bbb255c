// SPDX-License-Identifier: MIT
#pragma once

#include "file/parts/part.hpp"
#include "file/parts/task_thread.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <memory>
#include <optional>

namespace iio_stream::file {

/// Prepares the next part, and has it announce where it begins, on a thread of its own.
/// Thread: one; the part belongs to that thread until made() is true.
class NextPart {
public:
    /// `task_done` is set when a task has ended.
    explicit NextPart(sys::Event& task_done) : maker_(task_done) {}

    /// For a new recording, whose first part is prepared already.
    void reset() noexcept;
    /// `start`: where it is expected to begin, if that is predictable.
    void make(std::shared_ptr<Part> part, const StreamInfo& info, BlockPool& pool, int cancel,
              const std::optional<PartStart>& start);
    /// Another start is expected now.
    void expect(const PartStart& start);
    /// make() was called and take() was not yet.
    bool asked() const noexcept { return asked_; }
    /// It is ready, or preparing it failed.
    bool made() const noexcept;
    /// Throws if preparing it failed.
    std::shared_ptr<Part> take();
    /// Whether it is on the disk that `part` (taken last, or the first one) begins there. If not,
    /// starts to announce it; `task_done` is set when that has ended. Throws if announcing failed.
    bool announced(const std::shared_ptr<Part>& part, const PartStart& start);
    /// Waits for the thread; returns the part that was not taken, if there is one.
    std::shared_ptr<Part> abandon() noexcept;

private:
    void announce(const std::shared_ptr<Part>& part, const PartStart& start);

    bool asked_ = false;
    std::optional<PartStart> start_ =
        PartStart{};             ///< announced last; the default needs no announcement
    std::shared_ptr<Part> part_; ///< the thread's until made_
    std::atomic<bool> made_{false};
    TaskThread maker_;
};

} // namespace iio_stream::file
