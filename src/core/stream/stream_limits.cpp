// SPDX-License-Identifier: MIT
#include "core/stream/stream_limits.hpp"

#include "core/loss/losses.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::detail {

namespace {

/// The minimum delay, in ns, that is allowed for the last samples of a --duration on a busy
/// machine.
constexpr std::int64_t kLeastPatience = 250'000'000;
/// Rates that differ by no more than this are equal: in samples per second, or relative to the
/// rate.
constexpr double kSameRate = 1, kSameRatio = 1e-6;

} // namespace

void StreamLimits::reset(std::uint64_t samples, EndReason by, std::int64_t duration_ns,
                         bool fills) noexcept
{
    wanted_ = samples;
    by_ = by;
    duration_ns_ = duration_ns;
    fills_ = fills;
    delivered_ = paced_from_ = 0;
    end_ns_ = 0;
    pace_ = 0;
    due_.reset();
    due_holds_ = by_clock_ = false;
}

void StreamLimits::begin() noexcept
{
    if (duration_ns_ != 0)
        end_ns_ = sys::after(duration_ns_);
}

// The samples that count towards the time. They include lost samples, unless zeros replace them.
std::uint64_t StreamLimits::made() const noexcept
{
    return delivered_ + (fills_ ? 0 : counters_.lost());
}

std::uint64_t StreamLimits::left_of_time() const noexcept
{
    const double samples = pace_ * static_cast<double>(duration_ns_) * 1e-9 + 0.5;
    const std::uint64_t due = due_.value_or(static_cast<std::uint64_t>(std::min(samples, 0x1p63)));
    return due - std::min(made(), due);
}

// If the rate has become much lower, a block takes far longer to fill than it was sized for, so the
// timeout limits the wait.
std::int64_t StreamLimits::patience_ns(std::size_t block_samples,
                                       std::int64_t timeout_ns) const noexcept
{
    const double block_ns = 1e9 * static_cast<double>(block_samples) / pace_;
    const auto two = static_cast<std::int64_t>(std::min(2 * block_ns, 0x1p62));
    return std::max(due_ ? std::min(two, timeout_ns) : two, kLeastPatience);
}

std::uint64_t StreamLimits::end_position() const noexcept
{
    std::uint64_t samples = wanted_ == kUnknown ? kUnknown : left();
    if (duration_ns_ != 0 && counts_time() && !due_)
        samples = std::min(samples, left_of_time());
    return add_losses(counters_.samples(), samples); // zeros do not come from the source
}

bool StreamLimits::want_no_more_than(std::uint64_t samples) noexcept
{
    if (samples >= left())
        return false;
    wanted_ = delivered_ + samples;
    by_ = EndReason::duration;
    return true;
}

bool StreamLimits::follow_rate(const Retuning& retuning) noexcept
{
    const double rate = retuning.settings.rate.value_or(0);
    if (!timed() || rate <= 0 || pace_ <= 0)
        return false;
    if (std::abs(rate - pace_) <= std::max(kSameRate, pace_ * kSameRatio))
        return false;
    pace_ = rate;
    due_ = kUnknown;
    paced_from_ = retuning.end;
    due_holds_ = false;
    return true;
}

// A block's time can be late, which makes `due` too low. So the highest value from the blocks that
// certainly have the new rate is right.
void StreamLimits::follow_block(const Block& filled, std::size_t sample_bytes,
                                std::int64_t ns) noexcept
{
    if (!due_ || !timed())
        return;
    std::uint64_t all = made() + filled.bytes() / sample_bytes;
    for (const Gap& gap : filled.gaps())
        all = add_losses(all, gap.lost_min);
    const double more = static_cast<double>(end_ns_ - ns) * 1e-9 * pace_;
    const auto due =
        static_cast<std::uint64_t>(std::clamp(static_cast<double>(all) + more, 0.0, 0x1p62));
    const bool holds = filled.position() >= paced_from_;
    due_ = due_holds_ && holds ? std::max(*due_, due) : due;
    due_holds_ = holds;
}

} // namespace iio_stream::detail
