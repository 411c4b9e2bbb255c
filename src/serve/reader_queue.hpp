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

/// The blocks that one reader of a device has not been sent yet, as leases that all its readers
/// share. Thread: any.
class ReaderQueue {
public:
    explicit ReaderQueue(Format wanted) : format_(std::move(wanted)) {}

    const Format& format() const noexcept
    {
        return format_;
    } ///< of the samples that the reader wants
    int fd() const noexcept
    {
        return ready_event_.fd();
    } ///< readable while there is a block, or an error
    struct Taken {
        Block block;
        unsigned capture; ///< number of the one it is of; each has memory of its own
    };
    /// The next block; nullopt if there is none yet. Throws the error that ended the capture.
    std::optional<Taken> take();

    void add(const Block& block);
    void fail(const Error& error);
    /// The number of the oldest block that it has.
    std::optional<std::uint64_t> oldest() const;
    /// Drops its oldest block, which counts as dropped.
    void drop_oldest();
    /// The capture ends, to start again: drops all blocks, which do not count as dropped.
    void end_capture();
    /// The next capture has started, after a time in which at most `most` samples were lost.
    /// Clears the error of the former one.
    void restart(std::uint64_t most);

    std::uint64_t dropped() const noexcept { return dropped_; } ///< samples
    GapTotals restarts() const; ///< what was lost between two captures

private:
    const Format format_;
    mutable std::mutex mutex_;
    std::deque<Block> blocks_;
    unsigned capture_ = 0;
    std::optional<Error> error_;
    std::atomic<std::uint64_t> dropped_ = 0;
    std::uint64_t unsent_ = 0; ///< samples dropped at the end of the former capture
    GapTotals restarts_;
    sys::Event ready_event_;
};

} // namespace iio_stream::serve
