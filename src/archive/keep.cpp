// SPDX-License-Identifier: MIT
#include "archive/keep.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace iio_stream::archive {

namespace {

constexpr std::string_view kLast = "last:";

bool is_time(std::string_view text)
{
    for (const std::string_view unit : {"s", "min", "h", "d"})
        if (text.ends_with(unit))
            return true;
    return false;
}

} // namespace

KeepRule::KeepRule(const std::string& text)
{
    const std::string last = text.starts_with(kLast) ? text.substr(kLast.size()) : "";
    if (text == "all")
        all_ = true;
    else if (text == "none")
        bytes_ = 0;
    else if (last.empty())
        fail_usage("keep=" + text + " is no rule", "all, none, last:SIZE (last:100Gi) or last:TIME (last:24h)");
    else if (is_time(last))
        nanoseconds_ = parse_duration("keep", last).count();
    else
        bytes_ = parse_size("keep", last);
}

bool KeepRule::may_go(std::uint64_t bytes, std::int64_t seconds) const
{
    if (bytes_)
        return bytes > *bytes_;
    return nanoseconds_ && sys::realtime_ns() / kSecond - seconds > *nanoseconds_ / kSecond;
}

void Kept::add(const file::Opened& stored)
{
    struct stat status {};
    if (::stat(stored.meta.c_str(), &status) < 0)
        return; // another push has removed it
    parts_.push_back({stored.meta, stored.data, stored.bytes, status.st_mtim.tv_sec});
    bytes_ += stored.bytes;
}

std::uint64_t Kept::remove(std::uint64_t& removed_bytes)
{
    std::uint64_t count = 0;
    for (; !parts_.empty() && rule_.may_go(bytes_, parts_.front().closed); parts_.pop_front()) {
        const Part& oldest = parts_.front();
        // The samples first: metadata alone is small, and the next push removes it.
        sys::remove_file(oldest.data, "--keep all leaves it");
        sys::remove_file(oldest.meta, "--keep all leaves it");
        bytes_ -= oldest.bytes;
        removed_bytes += oldest.bytes;
        ++count;
    }
    return count;
}

} // namespace iio_stream::archive
