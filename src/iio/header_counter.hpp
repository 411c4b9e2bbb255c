// SPDX-License-Identifier: MIT
#pragma once

#include "iio/counter.hpp"

#include <optional>

namespace iio_stream::iio {

/// A counter, little-endian, at the start of each EVERY bytes that the device makes, one unit more
/// each time; the unit (frames, words, samples, bytes) shows in the first three. What is lost
/// between two of them moves the later one forward: by its value and its place the loss is known,
/// but for the turns of the counter that the clock allows, and lies between the two.
class HeaderCounter final : public Counter {
public:
    /// `text`: BYTES/EVERY. Of a longer header the first eight bytes count.
    HeaderCounter(const Format& format, const std::string& text);

    void conclude(detail::SampleTracker& tracker) override;

private:
    void begin(std::size_t block_size) override;
    void search_in(std::span<const std::byte> samples, detail::SampleTracker& tracker) override;
    std::uint64_t value(std::span<const std::byte> block, std::uint64_t at) const noexcept;
    bool fits(std::span<const std::byte> block, std::uint64_t at) const noexcept;
    std::optional<std::uint64_t> search(std::span<const std::byte> block, std::uint64_t from) const;
    std::optional<std::uint64_t> lost_before(std::uint64_t place,
                                             std::uint64_t value) const noexcept;
    void found(std::uint64_t place, std::uint64_t value) noexcept;
    Gap gap_until(std::uint64_t place) noexcept;
    Gap gap_until(std::uint64_t place, std::uint64_t lost) noexcept;
    std::uint64_t turn() const noexcept;

    std::string text_;
    std::uint64_t bytes_ = 0, every_ = 0, mask_ = 0;
    std::uint64_t stride_ = 1; ///< places where a header may be are that far apart
    std::uint64_t step_ = 0;   ///< from one header to the next; 0 = not known yet
    std::uint64_t seen_ = 0;   ///< bytes of the stream in the blocks before
    std::uint64_t last_ = 0;   ///< where in the stream the last good header was
    std::uint64_t last_value_ = 0;
    std::int64_t last_ns_ = 0; ///< it was made later than then
    bool in_step_ = false;     ///< the next one is expected EVERY bytes behind it
};

} // namespace iio_stream::iio
