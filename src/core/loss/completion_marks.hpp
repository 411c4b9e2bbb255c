// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace iio_stream::detail {

/// A completion: the samples before `position` were complete at `ns`.
struct Mark {
    std::uint64_t position;
    std::int64_t ns;
};

/// Records when the samples of the last seconds were complete, and finds the samples that were
/// complete at a given time. Allocates nothing. Thread: one.
class CompletionMarks {
public:
    /// The marks cover at least the last kReach. The newest mark is always the newest completion.
    /// Of three successive marks, the last is at least kSpacing later than the first.
    static constexpr std::int64_t kSpacing = 10'000'000, kReach = 2'500'000'000;

    void clear() noexcept { added_ = 0; }

    /// Adds the next completion. Neither positions nor times may decrease.
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

    /// Returns a position before which all samples were complete at `ns`. `rate` is the maximum
    /// rate in samples per second; 0 = unknown. If it is known, later marks count as well: between
    /// `ns` and such a mark, no more samples can have become complete than the rate allows.
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

    std::array<Mark, kMarks> marks_{}; ///< used as a ring
    std::size_t added_ = 0;
};

} // namespace iio_stream::detail
