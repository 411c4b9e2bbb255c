// SPDX-License-Identifier: MIT
#include "iio/loss/header_counter.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <numeric>

namespace iio_stream::iio {

namespace {

constexpr std::uint64_t kFurther = 2; ///< headers that are checked after a candidate

} // namespace

HeaderCounter::HeaderCounter(const Format& format, const std::string& text)
    : Counter(format.sample_bytes), text_("counter=header:" + text)
{
    const std::size_t slash = text.find('/');
    if (slash == text.npos)
        fail_usage(text_ + ": the distance is missing",
                   "counter=header:8/4Ki: 8 bytes at every 4096");
    bytes_ = parse_size("counter=header", text.substr(0, slash));
    every_ = parse_size("counter=header", text.substr(slash + 1));
    if (bytes_ < 2 || bytes_ > every_ || every_ > (std::uint64_t{1} << 40))
        fail_usage(text_ + ": BYTES must be at least 2, and EVERY at least BYTES");
    bytes_ = std::min<std::uint64_t>(bytes_, 8);
    mask_ = ~std::uint64_t{0} >> (64 - 8 * bytes_);
    stride_ = std::gcd(every_, static_cast<std::uint64_t>(sample_bytes_));
}

void HeaderCounter::begin(std::size_t block_size)
{
    if (4 * every_ > block_size)
        fail_usage(text_ + ": a block of " + format_size(block_size) +
                       " holds fewer than four headers",
                   "--block-size " + format_size(4 * every_) + " or more");
    step_ = seen_ = last_ = last_value_ = 0;
    last_ns_ = bound_.before_ns();
    in_step_ = false;
}

std::uint64_t HeaderCounter::value(std::span<const std::byte> block,
                                   std::uint64_t at) const noexcept
{
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes_; ++i)
        value |= std::to_integer<std::uint64_t>(block[static_cast<std::size_t>(at + i)]) << (8 * i);
    return value;
}

// Whether more headers follow this one, at distances of EVERY bytes. Two headers do not suffice:
// samples that differ little from each other can look like two headers.
bool HeaderCounter::fits(std::span<const std::byte> block, std::uint64_t at) const noexcept
{
    const auto step = [&](std::uint64_t n) {
        return (value(block, at + (n + 1) * every_) - value(block, at + n * every_)) & mask_;
    };
    const std::uint64_t expected = step_ != 0 ? step_ : step(0);
    if (expected == 0)
        return false;
    for (std::uint64_t n = 0; n < kFurther; ++n)
        if (step(n) != expected)
            return false;
    return true;
}

// The number of samples lost before a header at `place` in the stream; nullopt if the header cannot
// be later than the last one. An advance of more than half of the counter's range counts as a step
// back.
std::optional<std::uint64_t> HeaderCounter::lost_before(std::uint64_t place,
                                                        std::uint64_t value) const noexcept
{
    const std::uint64_t counted = (value - last_value_) & mask_;
    if (counted % step_ != 0 || counted > mask_ / 2)
        return std::nullopt;
    const std::uint64_t steps = counted / step_, come = place - last_;
    if (steps > UINT64_MAX / every_ || steps * every_ < come)
        return std::nullopt;
    const std::uint64_t lost = steps * every_ - come;
    if (lost % sample_bytes_ != 0)
        return std::nullopt;
    return lost / sample_bytes_;
}

// Returns the place of the next header at or after `from` in this block that is followed by further
// headers.
std::optional<std::uint64_t> HeaderCounter::search(std::span<const std::byte> block,
                                                   std::uint64_t from) const
{
    const std::uint64_t reach = kFurther * every_ + bytes_;
    for (std::uint64_t at = from; at + reach <= block.size(); at += stride_)
        if (fits(block, at) && (step_ == 0 || lost_before(seen_ + at, value(block, at))))
            return at;
    return std::nullopt;
}

void HeaderCounter::found(std::uint64_t place, std::uint64_t value) noexcept
{
    last_ = place;
    last_value_ = value;
    last_ns_ = bound_.before_ns();
    in_step_ = true;
}

// Returns the number of samples after which the header values repeat. They repeat after 2^n /
// gcd(step, 2^n) headers, so a loss of a multiple of that length leaves no trace. Returns 0 if no
// loss can be that long, or if the step is not known yet.
std::uint64_t HeaderCounter::turn() const noexcept
{
    if (mask_ == ~std::uint64_t{0} || step_ == 0)
        return 0;
    const std::uint64_t headers = (mask_ + 1) / std::gcd(mask_ + 1, step_);
    if (headers > UINT64_MAX / every_)
        return 0;
    return headers * every_ % sample_bytes_ == 0 ? headers * every_ / sample_bytes_ : 1;
}

// A gap of unknown size between the last good header and the sample at `place`.
Gap HeaderCounter::gap_until(std::uint64_t place) noexcept
{
    const std::uint64_t after = (last_ + bytes_ + sample_bytes_ - 1) / sample_bytes_;
    const std::uint64_t until = std::max(place / sample_bytes_, after);
    const std::uint64_t most = most_since(last_ns_, (place - last_) / sample_bytes_);
    return {after, until, 0, most, Evidence::counter};
}

Gap HeaderCounter::gap_until(std::uint64_t place, std::uint64_t lost) noexcept
{
    const Gap all = gap_until(place);
    return gap_of(all.offset_min, all.offset_max, lost, turn(), all.lost_max);
}

void HeaderCounter::search_in(std::span<const std::byte> block, detail::SampleTracker& tracker)
{
    // Place of the first header expected in this block. A header that spans two blocks is skipped.
    std::uint64_t at = in_step_ ? every_ - 1 - (seen_ - last_ - 1) % every_ : 0;
    while (at + bytes_ <= block.size()) {
        if (in_step_) {
            const std::uint64_t passed = (seen_ + at - last_) / every_;
            if (value(block, at) == ((last_value_ + passed * step_) & mask_)) {
                found(seen_ + at, value(block, at));
                at += every_;
                continue;
            }
            in_step_ = false;
            at = last_ < seen_ ? 0 : last_ - seen_ + stride_;
        }
        const auto next = search(block, at);
        if (!next)
            break;
        const std::uint64_t place = seen_ + *next, counted = value(block, *next);
        if (step_ == 0) {
            step_ = (value(block, *next + every_) - counted) & mask_;
            if (place >= every_) // an earlier header was due
                report({0, place / sample_bytes_, 0, kUnknown, Evidence::counter}, tracker);
        } else if (const auto lost = lost_before(place, counted); lost && *lost != 0)
            report(gap_until(place, *lost), tracker);
        found(place, counted);
        at = *next + every_;
    }
    seen_ += block.size();
}

void HeaderCounter::end_search(detail::SampleTracker& tracker)
{
    if (in_step_ || seen_ == 0)
        return;
    if (step_ == 0) // the stream had no header at all
        report({0, seen_ / sample_bytes_, 0, kUnknown, Evidence::counter}, tracker);
    else
        report(gap_until(seen_), tracker);
}

} // namespace iio_stream::iio
