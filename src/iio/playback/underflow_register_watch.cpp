// SPDX-License-Identifier: MIT
#include "iio/playback/underflow_register_watch.hpp"

#include "iio_stream/error.hpp"
#include "sys/named_thread.hpp"

#include <poll.h>

namespace iio_stream::iio {

namespace {

constexpr std::int64_t kPollInterval = 5'000'000, kReadInterval = 1'000'000'000;

} // namespace

UnderflowRegisterWatch::UnderflowRegisterWatch(StatusRegister overflow_register,
                                               const Playback& playback, PlaybackCounts& counts)
    : overflow_register_(std::move(overflow_register)),
      playback_(playback),
      counts_(counts),
      thread_([this] {
          const sys::NamedThread name("iios-underflow");
          run();
      })
{}

UnderflowRegisterWatch::~UnderflowRegisterWatch()
{
    over_ = true;
    read_requested_.set();
    thread_.join();
}

void UnderflowRegisterWatch::run() noexcept
try {
    while (!over_ && !counts_.begun) // a requested read waits for the first block, too
        (void)sys::wait_for(-1, 0, sys::after(kPollInterval));
    if (!counts_.begun)
        return;
    (void)overflow_register_.take(StatusRegister::Bit::underflow);
    do {
        if (!over_)
            (void)sys::wait_for(read_requested_.fd(), POLLIN, sys::after(kReadInterval));
        read_requested_.clear();
        check(); // also at the end, because more blocks may be queued
    } while (!over_);
} catch (const std::exception&) {
    // The device is gone, which the blocks will report.
}

// The block being played may itself have come too late, which is counted when it ends.
bool UnderflowRegisterWatch::is_shown_by_queue(std::uint64_t underflows, std::uint64_t moves)
{
    if (counts_.repeating == Repeating::hardware)
        return false;
    while (!over_ && counts_.moves == moves)
        (void)sys::wait_for(-1, 0, sys::after(kPollInterval));
    return counts_.underflows != underflows;
}

void UnderflowRegisterWatch::check()
{
    const std::uint64_t before = counts_.underflows;
    const bool set = overflow_register_.take(StatusRegister::Bit::underflow);
    const std::uint64_t moves = counts_.moves;
    if (set && before == counted_ && playback_.is_supplied() && !is_shown_by_queue(before, moves))
        counts_.underflows.fetch_add(1, std::memory_order_relaxed);
    counted_ = counts_.underflows;
}

} // namespace iio_stream::iio
