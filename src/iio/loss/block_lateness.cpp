// SPDX-License-Identifier: MIT
#include "iio/loss/block_lateness.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::iio {

namespace {

/// A "second" lasts at least this long and has at least this many blocks, so that the interrupt of
/// at least one of them is on time.
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kLeastBlocks = 32;
/// Half a turn of the counter must be longer than this many nanoseconds. Otherwise the jitter of
/// the interrupts hides it.
constexpr double kLeastHalfTurn = 2'000'000;
/// Until the clocks have been compared, the real rate is assumed to differ from the stated rate by
/// at most one part in this many.
constexpr std::int64_t kStatedRateSlack = 64;

} // namespace

void BlockLateness::reset(double rate, std::uint64_t turn) noexcept
{
    *this = {};
    rate_ = rate;
    turn_ = turn;
    if (rate > 0 && turn > 0)
        turn_ns_ = static_cast<double>(turn) / rate * 1e9;
}

void BlockLateness::forget() noexcept
{
    begun_ = false;
    before_.reset();
    growth_count_ = 0;
}

std::optional<Gap> BlockLateness::block(std::int64_t ns, std::uint64_t position,
                                        std::uint64_t index) noexcept
{
    if (turn_ns_ < 2 * kLeastHalfTurn)
        return std::nullopt;
    if (!begun_) {
        begun_ = true;
        first_ns_ = ns;
        first_index_ = index;
        now_ = {0, ns, position, 1};
        return std::nullopt;
    }
    const double made_ns = static_cast<double>(index - first_index_) / rate_ * 1e9;
    const std::int64_t late = ns - first_ns_ - std::llround(std::min(made_ns, 1e18));
    if (now_.blocks == 0 || late < now_.least_ns) {
        now_.least_ns = late;
        now_.position = position;
    }
    ++now_.blocks;
    if (ns - now_.begin_ns < kSecond || now_.blocks < kLeastBlocks)
        return std::nullopt;
    auto found = close(now_);
    if (found)
        growth_count_ = 0;
    before_ = now_;
    now_ = {0, ns, position, 0};
    return found;
}

std::optional<Gap> BlockLateness::close(const Second& second) noexcept
{
    if (!before_)
        return std::nullopt;
    const std::int64_t growth = second.least_ns - before_->least_ns;
    std::int64_t most = (second.begin_ns - before_->begin_ns) / kStatedRateSlack, least = -most;
    if (growth_count_ > 0) {
        auto sorted = growths_;
        const std::size_t count = std::min(growth_count_, sorted.size());
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
        least = most = sorted[count / 2];
    }
    if (static_cast<double>(growth - most) <= turn_ns_ / 2) {
        growths_[growth_count_++ % growths_.size()] = growth;
        return std::nullopt;
    }
    const double turns =
        std::floor((static_cast<double>(growth - least) + turn_ns_ / 2) / turn_ns_);
    return Gap{before_->position, second.position, 0,
               static_cast<std::uint64_t>(std::clamp(turns, 1.0, 1e9)) * turn_, Evidence::counter};
}

} // namespace iio_stream::iio
