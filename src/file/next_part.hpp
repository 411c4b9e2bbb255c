// SPDX-License-Identifier: MIT
#pragma once

#include "file/part.hpp"
#include "file/task_thread.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::file {

/// Makes the next of several parts ready, on a thread of its own.
/// Thread: one; the part is the maker's until made() says that it is there.
class NextPart {
public:
    /// `news` is set when something is done.
    explicit NextPart(sys::Event& news) : maker_(news) {}

    /// For the first part of another recording, which is ready.
    void reset() noexcept;
    void make(std::shared_ptr<Part> part, const StreamInfo& info, BlockPool& pool, int cancel);
    /// Somebody has asked for it, and not taken it yet.
    bool asked() const noexcept { return asked_; }
    /// It is there, or cannot be made.
    bool made() const noexcept;
    /// Throws why it could not be made.
    std::shared_ptr<Part> take();
    /// Waits until nothing is under way; returns the part that nobody has taken, if there is one.
    std::shared_ptr<Part> abandon() noexcept;

private:
    bool asked_ = false;
    std::shared_ptr<Part> part_; ///< the maker's until made_
    std::atomic<bool> made_{false};
    TaskThread maker_;
};

} // namespace iio_stream::file
