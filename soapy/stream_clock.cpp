// SPDX-License-Identifier: MIT
#include "stream_clock.hpp"

#include <cmath>

namespace iio_stream::soapy {

void StreamClock::reset(By by, double rate) noexcept
{
    *this = StreamClock();
    by_ = by;
    rate_ = rate;
}

void StreamClock::follow(const Block& block, std::size_t sample_bytes) noexcept
{
    const Retuning& retuning = block.retuning();
    const bool retuned =
        retuning.count != retunings_ && retuning.settings.rate.value_or(rate_) != rate_;
    retunings_ = retuning.count;
    if (retuned)
        rate_ = *retuning.settings.rate;
    if (anchored_ && by_ == By::index && !retuned && block.index_exact())
        return;
    if (block.bytes() == 0)
        return;
    anchored_ = block.time().ns != 0; // 0: the time is unknown
    // The block's time is the time of its last sample, before any loss after it.
    index_ = block.slice(block.bytes() / sample_bytes - 1, 1, sample_bytes).sample_index() + 1;
    ns_ = block.time().ns;
}

std::optional<std::int64_t> StreamClock::time_of(std::uint64_t index) const noexcept
{
    if (!anchored_ || rate_ <= 0)
        return std::nullopt;
    const auto samples =
        static_cast<std::int64_t>(index - index_); // negative within the first block
    return ns_ +
           static_cast<std::int64_t>(std::llround(static_cast<double>(samples) * 1e9 / rate_));
}

} // namespace iio_stream::soapy
