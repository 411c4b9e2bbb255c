// SPDX-License-Identifier: MIT
// Reserves disk space ahead of the writes: those that extend a file are synchronous on ext4.
#include "core/text.hpp"
#include "file/direct_output.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace iio_stream::file {

// Beyond the process' file size limit an allocation raises a signal instead of an error.
bool DirectOutput::may_reserve() noexcept
{
    while (settings_.ahead != 0 && reserved_ + settings_.ahead > sys::file_size_limit())
        settings_.ahead = settings_.ahead > 2 * most_bytes_ ? settings_.ahead / 2 : 0;
    return settings_.ahead != 0;
}

void DirectOutput::reserve_ahead()
{
    if (settings_.ahead == 0 || reserving_ != 0)
        return;
    const bool enough = settings_.expected != 0 && reserved_ >= settings_.expected;
    const bool urgent = position_ + most_bytes_ > reserved_;
    if (!urgent && (enough || reserved_ - position_ > settings_.ahead / 2))
        return;
    if (enough) // but in pieces that fit less well
        settings_.ahead = std::min<std::uint64_t>(settings_.ahead, 4 * most_bytes_);
    if (!may_reserve())
        return;
    reserving_ = settings_.ahead;
    queue_->allocate(reserved_, reserving_, depth_);
    ++in_flight_;
}

// If there is no space for much, there may be for less; without any, the writes themselves fail.
void DirectOutput::reserved(std::ptrdiff_t result)
{
    const std::uint64_t bytes = std::exchange(reserving_, 0);
    if (result == -EINTR)
        return; // reserve_ahead() tries again
    if (result == 0)
        reserved_ += bytes;
    else if (result == -ENOSPC && settings_.ahead > 2 * most_bytes_)
        settings_.ahead /= 2;
    else
        settings_.ahead = 0;
    if (result != 0 && result != -ENOSPC)
        reserve_error_ = static_cast<int>(-result);
}

std::string DirectOutput::remark() const
{
    std::string text = remark_on(*queue_);
    if (reserve_error_ != 0)
        detail::add_clause(text, std::string("space is allocated with each write: fallocate: ") +
                                     std::strerror(reserve_error_));
    return text;
}

} // namespace iio_stream::file
