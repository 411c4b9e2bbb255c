// SPDX-License-Identifier: MIT
#include "iio/loss/rate_watch.hpp"

#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::iio {

void RateWatch::reset(const std::string& file, double rate)
{
    file_.reset();
    highest_ = latest_ = rate;
    read_ns_ = 0;
    if (rate > 0 && !file.empty())
        file_ = sys::open_file(file, O_RDONLY);
}

double RateWatch::highest() noexcept
{
    double highest = highest_;
    if (!file_.valid())
        return highest;
    const auto now = sys::read_number(file_.get());
    if (!now && errno != ENODEV) // an unplugged device has not changed its rate since
        highest = 0;
    while (now && *now > highest && !highest_.compare_exchange_weak(highest, *now))
        ;
    highest = std::max(highest, now.value_or(0));
    latest_highest_ = highest;
    if (now && latest_.exchange(*now) != *now)
        ++changes_;
    read_ns_ = sys::monotonic_ns();
    return highest;
}

double RateWatch::highest_lately(std::int64_t now_ns) noexcept
{
    const std::int64_t read_ns = read_ns_;
    return read_ns != 0 && now_ns - read_ns < kFresh ? latest_highest_.load() : highest();
}

void RateWatch::read_if_written() noexcept
{
    if (written_.take())
        (void)highest();
}

} // namespace iio_stream::iio
