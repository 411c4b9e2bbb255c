// SPDX-License-Identifier: MIT
#pragma once

#include "iio/loss/counter.hpp"

#include <optional>

namespace iio_stream::iio {

/// A little-endian counter at the start of every EVERY bytes that the device produces. It grows by
/// the same step each time. The step depends on whether the device counts frames, words, samples or
/// bytes, and the first three headers reveal it. Samples that are lost between two headers shift
/// the later one. Its value and place give the number of lost samples, apart from full turns of the
/// counter, which the clock limits. The loss lies between the two headers.
class HeaderCounter final : public Counter {
public:
    /// `text`: BYTES/EVERY. Only the first eight bytes of a longer header count.
    HeaderCounter(const Format& format, const std::string& text);

    bool may_repeat() const noexcept override { return mask_ < UINT32_MAX; }

private:
    void begin(std::size_t block_size) override;
    void end_search(detail::SampleTracker& tracker) override;
    void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) override;
    std::uint64_t value(std::span<const std::byte> block, std::uint64_t at) const noexcept;
    bool fits(std::span<const std::byte> block, std::uint64_t at) const noexcept;
    std::optional<std::uint64_t> search(std::span<const std::byte> block, std::uint64_t from) const;
    std::optional<std::uint64_t> lost_before(std::uint64_t place,
                                             std::uint64_t value) const noexcept;
    void found(std::uint64_t place, std::uint64_t value) noexcept;
    Gap gap_until(std::uint64_t place) noexcept;
    Gap gap_until(std::uint64_t place, std::uint64_t lost) noexcept;
    std::uint64_t turn() const noexcept override;

    std::string text_;
    std::uint64_t bytes_ = 0, every_ = 0, mask_ = 0;
    std::uint64_t stride_ = 1; ///< distance between places where a header can be
    std::uint64_t step_ = 0;   ///< growth from one header to the next; 0 = not known yet
    std::uint64_t seen_ = 0;   ///< bytes of the stream in earlier blocks
    std::uint64_t last_ = 0;   ///< place of the last good header in the stream
    std::uint64_t last_value_ = 0;
    std::int64_t last_ns_ = 0; ///< the last good header was produced after this time
    bool in_step_ = false;     ///< the next header is expected EVERY bytes after last_
};

} // namespace iio_stream::iio
