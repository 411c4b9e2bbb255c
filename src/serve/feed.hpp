// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

namespace iio_stream::serve {

/// What one reader of a device has still to be sent: leases of the blocks that all its readers
/// share. Thread: any.
class Feed {
public:
    explicit Feed(Format wanted) : format_(std::move(wanted)) {}

    const Format& format() const noexcept
    {
        return format_;
    }                                              ///< of the samples that the reader wants
    int fd() const noexcept { return news_.fd(); } ///< readable while there is a block, or an error
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
    void drop_all();
    void begin_again(); ///< a new capture: what failed before does not count

    std::uint64_t dropped() const noexcept { return dropped_; } ///< samples

private:
    void drop_front();

    const Format format_;
    mutable std::mutex mutex_;
    std::deque<Block> blocks_;
    unsigned capture_ = 0;
    std::optional<Error> error_;
    std::atomic<std::uint64_t> dropped_ = 0;
    sys::Event news_;
};

} // namespace iio_stream::serve
