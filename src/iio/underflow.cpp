// SPDX-License-Identifier: MIT
#include "iio/underflow.hpp"

#include "iio_stream/error.hpp"

#include <poll.h>

namespace iio_stream::iio {

namespace {

constexpr std::int64_t kFirst = 5'000'000, kLookEvery = 1'000'000'000;

} // namespace

UnderflowWatch::UnderflowWatch(OverflowRegister overflow_register, const Playback& playback,
                               PlaybackCounts& counts)
    : overflow_register_(std::move(overflow_register)),
      playback_(playback),
      counts_(counts),
      thread_([this] { run(); })
{}

UnderflowWatch::~UnderflowWatch()
{
    over_ = true;
    asked_.set();
    thread_.join();
}

void UnderflowWatch::run() noexcept
try {
    while (!over_ && !counts_.begun) // a requested look comes after that
        (void)sys::wait_for(-1, 0, sys::after(kFirst));
    if (!counts_.begun)
        return;
    (void)overflow_register_.take(OverflowRegister::Bit::underflow);
    do {
        if (!over_)
            (void)sys::wait_for(asked_.fd(), POLLIN, sys::after(kLookEvery));
        asked_.clear();
        check(); // also when it is over: more may be queued
    } while (!over_);
} catch (const std::exception&) {
    // Gone with its device, which the blocks will report.
}

// The block being played may itself have come too late, which is counted when it ends.
bool UnderflowWatch::comes_to_light(std::uint64_t underflows, std::uint64_t moves)
{
    if (counts_.repeating == Repeating::hardware)
        return false;
    while (!over_ && counts_.moves == moves)
        (void)sys::wait_for(-1, 0, sys::after(kFirst));
    return counts_.underflows != underflows;
}

void UnderflowWatch::check()
{
    const std::uint64_t before = counts_.underflows;
    const bool set = overflow_register_.take(OverflowRegister::Bit::underflow);
    const std::uint64_t moves = counts_.moves;
    if (set && before == counted_ && playback_.is_supplied() && !comes_to_light(before, moves))
        counts_.underflows.fetch_add(1, std::memory_order_relaxed);
    counted_ = counts_.underflows;
}

} // namespace iio_stream::iio
