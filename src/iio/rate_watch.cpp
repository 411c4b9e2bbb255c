// SPDX-License-Identifier: MIT
#include "iio/rate_watch.hpp"

#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::iio {

void RateWatch::reset(const std::string& file, double rate)
{
    file_.reset();
    highest_ = rate;
    if (rate > 0 && !file.empty())
        file_ = sys::open_file(file, O_RDONLY);
}

double RateWatch::highest() noexcept
{
    double highest = highest_;
    if (!file_.valid())
        return highest;
    const auto now = sys::read_number(file_.get());
    if (!now) // a device that is gone has changed nothing since
        return errno == ENODEV ? highest : 0;
    while (*now > highest && !highest_.compare_exchange_weak(highest, *now))
        ;
    return std::max(highest, *now);
}

} // namespace iio_stream::iio
