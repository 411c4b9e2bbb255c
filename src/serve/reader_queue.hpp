// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/stats.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace iio_stream::serve {

/// One start of a capture. Each has memory of its own.
struct CaptureRun {
    Format format;                     ///< of its blocks
    std::uint64_t number = 0;          ///< starts of the capture, including this one
    std::size_t most_held = 0;         ///< blocks that readers may hold
    std::atomic<std::size_t> held = 0; ///< blocks that readers hold
};

/// A captured block, which the readers of the device share.
struct CapturedBlock {
    CapturedBlock(Block captured, std::shared_ptr<CaptureRun> of)
        : block(std::move(captured)), run(std::move(of))
    {
        ++run->held;
    }
    CapturedBlock(const CapturedBlock&) = delete;
    ~CapturedBlock() { --run->held; }
    std::size_t samples() const noexcept { return block.bytes() / run->format.sample_bytes; }

    const Block block;
    const std::shared_ptr<CaptureRun> run;
};
using SharedBlock = std::shared_ptr<const CapturedBlock>;

/// The blocks that have not been sent yet to one reader of a device. Thread: any.
class ReaderQueue {
public:
    explicit ReaderQueue(Format wanted) : format_(std::move(wanted)) {}

    /// The format of the samples that the reader requests.
    const Format& format() const noexcept { return format_; }
    /// Returns a descriptor that is readable while there is a block or an error.
    int fd() const noexcept { return ready_event_.fd(); }
    /// The next block; null if there is none yet. Throws the error that ended the capture.
    SharedBlock take();

    void add(const SharedBlock& block);
    void fail(const Error& error);
    /// Returns the number of queued blocks.
    std::size_t size() const;
    /// The sequence number of the oldest queued block; nullopt if the queue is empty.
    std::optional<std::uint64_t> oldest() const;
    /// Drops the oldest block and counts its samples as dropped.
    void drop_oldest();
    /// Call at the end of a capture. Removes all blocks; add_pause() counts their samples as lost,
    /// not as dropped.
    void end_capture();
    /// Call before the next capture starts. Clears the error of the previous one.
    void begin_capture();
    /// Call when the next capture has started, after a pause in which at most `most` samples were
    /// lost. Does nothing for a reader that had no capture before.
    void add_pause(std::uint64_t most);

    std::uint64_t dropped() const noexcept { return dropped_; } ///< samples
    GapTotals restarts() const;                                 ///< losses between captures

private:
    const Format format_;
    mutable std::mutex mutex_;
    std::deque<SharedBlock> blocks_;
    bool signalled_ = false; ///< ready_event_ is set, or is about to be set
    std::optional<Error> error_;
    std::atomic<std::uint64_t> dropped_ = 0;
    /// Samples removed at the end of the previous capture; empty while there is a capture, or
    /// before the first one.
    std::optional<std::uint64_t> unsent_;
    GapTotals restarts_;
    sys::Event ready_event_;
};

using ReaderQueues = std::vector<std::shared_ptr<ReaderQueue>>;

/// Drops the oldest block of the readers of one device from every queue that still contains it, if
/// one of the queues is at least `lead` blocks longer than another. Returns false if none is: then
/// no reader is slower than the others.
bool drop_oldest_of_slow(const ReaderQueues& queues, std::size_t lead);

} // namespace iio_stream::serve
