// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace iio_stream::detail {

/// The samples before `position` were complete at `ns`.
struct Mark {
    std::uint64_t position;
    std::int64_t ns;
};

/// Remembers when the samples of the last seconds were complete, and finds which were at some time.
/// Allocates nothing. Thread: one.
class CompletionMarks {
public:
    /// The marks reach back at least kReach. The newest is always the newest completion, and a mark
    /// is at least kSpacing later than the one before the previous one.
    static constexpr std::int64_t kSpacing = 10'000'000, kReach = 2'500'000'000;

    void clear() noexcept { added_ = 0; }

    /// The next completion; neither its position nor its time is before the previous one's.
    void add(Mark mark) noexcept
    {
        const bool another = added_ < 2 || mark.ns - marks_[(added_ - 2) % kMarks].ns >= kSpacing;
        added_ += another ? 1 : 0;
        marks_[(added_ - 1) % kMarks] = mark;
    }

    /// The newest mark; none before the first completion.
    std::optional<Mark> newest() const noexcept
    {
        return added_ == 0 ? std::nullopt : std::optional(marks_[(added_ - 1) % kMarks]);
    }

    /// The newest mark that is not after `ns`; none if the marks do not reach back that far.
    std::optional<Mark> at(std::int64_t ns) const noexcept
    {
        for (std::size_t i = added_; i > oldest(); --i)
            if (const Mark& mark = marks_[(i - 1) % kMarks]; mark.ns <= ns)
                return mark;
        return std::nullopt;
    }

    /// The samples before the returned position were complete at `ns`. At a `rate` of samples per
    /// second at most, 0 = unknown, this also follows from later marks: between `ns` and a mark, no
    /// more samples became complete than the rate allows.
    std::uint64_t complete_at(std::int64_t ns, double rate) const noexcept
    {
        std::uint64_t position = 0;
        for (std::size_t i = added_; i > oldest(); --i) {
            const Mark& mark = marks_[(i - 1) % kMarks];
            if (mark.ns <= ns)
                return std::max(position, mark.position);
            if (!(rate > 0))
                continue;
            const double later = std::ceil(static_cast<double>(mark.ns - ns) * 1e-9 * rate);
            if (later < static_cast<double>(mark.position))
                position = std::max(position, mark.position - static_cast<std::uint64_t>(later));
        }
        return position;
    }

private:
    static constexpr std::size_t kMarks = 512;
    static_assert(static_cast<std::int64_t>(kMarks / 2 - 1) * kSpacing >= kReach);

    std::size_t oldest() const noexcept { return added_ > kMarks ? added_ - kMarks : 0; }

    std::array<Mark, kMarks> marks_{}; ///< a ring
    std::size_t added_ = 0;
};

} // namespace iio_stream::detail
