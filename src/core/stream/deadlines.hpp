// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

namespace iio_stream::detail {

/// Tracks how long a stream waits for its next block. All times are CLOCK_MONOTONIC, in
/// nanoseconds. Thread: one.
class Deadlines {
public:
    explicit Deadlines(std::int64_t timeout_ns = 0) : timeout_ns_(timeout_ns) {}

    /// Restarts the wait now, because a block came or went or the source begins to wait for one.
    void restart(std::int64_t now_ns) noexcept { progress_ns_ = now_ns; }
    /// Notes that a block came or went. The wait restarts at the next begin_wait().
    void note_move() noexcept { moved_ = true; }

    std::int64_t waited_ns(std::int64_t now_ns) const noexcept { return now_ns - progress_ns_; }
    /// The time at which the source is overdue.
    std::int64_t source_ns() const noexcept { return progress_ns_ + timeout_ns_; }
    /// Whether nothing has moved for `timeout_ns`.
    bool is_over(std::int64_t now_ns, std::int64_t timeout_ns) const noexcept
    {
        return now_ns >= progress_ns_ + timeout_ns;
    }

    /// Call when a wait begins.
    void begin_wait(std::int64_t now_ns) noexcept
    {
        if (moved_)
            progress_ns_ = now_ns;
        moved_ = false;
    }
    /// The timeout for poll(), in milliseconds, of a wait that ends at `until_ns`.
    int poll_ms(std::int64_t now_ns, std::int64_t until_ns) noexcept
    {
        constexpr std::int64_t kMs = 1'000'000;
        const std::int64_t ms =
            std::clamp<std::int64_t>((until_ns - now_ns + kMs - 1) / kMs, 0, INT_MAX);
        end_ns_ = now_ns + ms * kMs;
        return static_cast<int>(ms);
    }
    /// Call when a wait has timed out. If it ends much later than it should, the program was
    /// stopped or the machine was busy, which may also have delayed the block. The delay then does
    /// not count, and the deadline moves by the same time again, so that the block can still come.
    void end_wait(std::int64_t now_ns) noexcept
    {
        if (const std::int64_t late_ns = now_ns - end_ns_; late_ns > kLateWakeUp)
            progress_ns_ = std::min(progress_ns_ + 2 * late_ns, now_ns);
    }

private:
    static constexpr std::int64_t kLateWakeUp = 50'000'000;

    std::int64_t timeout_ns_;
    std::int64_t progress_ns_ = 0; ///< when a block last moved, or the first was requested
    std::int64_t end_ns_ = 0;      ///< end of the current wait
    bool moved_ = false;           ///< a block came or went since the last wait
};

} // namespace iio_stream::detail
