// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace iio_stream::detail {

/// A histogram of times. Each bucket spans 1/16 of an octave (as in HdrHistogram), which gives a
/// resolution of 6 %. Allocates nothing.
/// Thread: one at a time.
class Histogram {
public:
    void add(std::int64_t ns) noexcept
    {
        const std::uint64_t value = ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
        ++counts_[bucket(value)];
        ++total_;
        max_ = value > max_ ? value : max_;
    }
    void add(const Histogram& other) noexcept
    {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            counts_[i] += other.counts_[i];
        total_ += other.total_;
        max_ = other.max_ > max_ ? other.max_ : max_;
    }
    /// The upper edge of the bucket that contains the percentile `fraction` (0 to 1).
    std::uint64_t percentile(double fraction) const noexcept
    {
        const auto wanted = static_cast<std::uint64_t>(fraction * static_cast<double>(total_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen > wanted)
                return upper_edge(i) < max_ ? upper_edge(i) : max_;
        }
        return max_;
    }
    std::uint64_t max() const noexcept { return max_; }

private:
    static constexpr unsigned kSubBits = 4;

    static std::size_t bucket(std::uint64_t value) noexcept
    {
        if (value < 1u << kSubBits)
            return static_cast<std::size_t>(value);
        const unsigned octave = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
        return (std::size_t{octave} << kSubBits) + static_cast<std::size_t>(value >> octave);
    }
    static std::uint64_t upper_edge(std::size_t index) noexcept
    {
        if (index < 1u << (kSubBits + 1))
            return index;
        const std::size_t octave = (index >> kSubBits) - 1;
        const std::uint64_t mantissa = (index & ((1u << kSubBits) - 1)) + (1u << kSubBits);
        return ((mantissa + 1) << octave) - 1;
    }

    std::array<std::uint32_t, 64 << kSubBits> counts_{};
    std::uint64_t total_ = 0, max_ = 0;
};

} // namespace iio_stream::detail
