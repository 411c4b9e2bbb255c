// SPDX-License-Identifier: MIT
#pragma once

#include "file/part.hpp"
#include "file/task_thread.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

namespace iio_stream::file {

/// Closes the parts of a recording that have all their samples, in their order, seals them, and
/// tells them what becomes known later of theirs; on threads of its own. Thread: one; the counters
/// are anybody's to ask.
class PartCloser {
public:
    /// `news` is set when something is done.
    explicit PartCloser(sys::Event& news) : sealer_(news), closer_(news) {}

    /// For another recording.
    void reset() noexcept;
    /// The part tells on the disk where it begins.
    void announce(std::shared_ptr<Part> part);
    /// `end`: position in the stream behind its last sample.
    void close(const std::shared_ptr<Part>& part, std::uint64_t end);
    /// To those parts that end behind `begin`, a position in the stream.
    void tell_late(const Part::Late& late, std::uint64_t begin);
    void seal(std::shared_ptr<Part> part);
    /// Takes note of what is in a part that is closed.
    void count(const Part& part);

    std::size_t left() const noexcept { return closer_.left(); } ///< to be closed
    std::uint64_t closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
    std::uint64_t stored() const noexcept
    {
        return stored_;
    }                                                ///< bytes, in the parts that are closed
    bool broken() const noexcept { return broken_; } ///< one of those lacks samples
    void check() const;                              ///< throws what went wrong first
    void finish_closing() noexcept { closer_.finish(); }
    void finish() noexcept { sealer_.finish(); }

private:
    /// One that is closed, or about to be, or gone.
    struct Closed {
        std::uint64_t end;
        Part::LateTeller tell;
    };

    std::deque<Closed> parts_; ///< the last kMostClosed
    std::atomic<bool> broken_{false};
    std::atomic<std::uint64_t> closed_{0}, stored_{0};
    TaskThread sealer_, closer_; ///< their threads end first
};

} // namespace iio_stream::file
