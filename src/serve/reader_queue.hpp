// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/stats.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

namespace iio_stream::serve {

/// The blocks that have not been sent yet to one reader of a device. All readers of the device
/// share the leases. Thread: any.
class ReaderQueue {
public:
    explicit ReaderQueue(Format wanted) : format_(std::move(wanted)) {}

    /// The format of the samples that the reader requests.
    const Format& format() const noexcept { return format_; }
    /// Returns a descriptor that is readable while there is a block or an error.
    int fd() const noexcept { return ready_event_.fd(); }
    struct Taken {
        Block block;
        unsigned capture; ///< number of its capture; each capture has memory of its own
    };
    /// The next block; nullopt if there is none yet. Throws the error that ended the capture.
    std::optional<Taken> take();

    void add(const Block& block);
    void fail(const Error& error);
    /// The sequence number of the oldest queued block; nullopt if the queue is empty.
    std::optional<std::uint64_t> oldest() const;
    /// Drops the oldest block and counts its samples as dropped.
    void drop_oldest();
    /// Call at the end of a capture. Removes all blocks; restart() counts their samples as lost,
    /// not as dropped.
    void end_capture();
    /// Call when the next capture has started, after a pause in which at most `most` samples were
    /// lost. Clears the error of the previous capture.
    void restart(std::uint64_t most);

    std::uint64_t dropped() const noexcept { return dropped_; } ///< samples
    GapTotals restarts() const;                                 ///< losses between captures

private:
    const Format format_;
    mutable std::mutex mutex_;
    std::deque<Block> blocks_;
    unsigned capture_ = 0;
    std::optional<Error> error_;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::uint64_t unsent_ = 0; ///< samples removed at the end of the previous capture
    GapTotals restarts_;
    sys::Event ready_event_;
};

} // namespace iio_stream::serve
