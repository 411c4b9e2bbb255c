// SPDX-License-Identifier: MIT
#include "archive/keep.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <cerrno>

namespace iio_stream::archive {

namespace {

constexpr std::string_view kLast = "last:";
constexpr std::int64_t kNanoseconds = 1'000'000'000; ///< of a second

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
        none_ = true;
    else if (last.empty())
        fail_usage("keep=" + text + " is no rule",
                   "all, none, last:SIZE (last:100Gi) or last:TIME (last:24h)");
    else if (is_time(last))
        nanoseconds_ = parse_duration("keep", last).count();
    else
        bytes_ = parse_size("keep", last);
}

bool KeepRule::may_go(std::uint64_t bytes, std::int64_t seconds) const
{
    if (none_ || bytes_)
        return none_ || bytes > *bytes_;
    return nanoseconds_ &&
           sys::realtime_ns() / kNanoseconds - seconds > *nanoseconds_ / kNanoseconds;
}

void Kept::add(Seen meta, Seen data)
{
    bytes_ += data.size();
    const auto [place, is_new] = places_.try_emplace(meta.path(), gone_ + parts_.size());
    if (is_new) {
        parts_.push_back({std::move(meta), std::move(data)});
        return;
    }
    Part& before = parts_[static_cast<std::size_t>(place->second - gone_)];
    bytes_ -= before.data.size();
    before = {std::move(meta), std::move(data)};
}

std::optional<std::uint64_t> Kept::remove()
{
    if (parts_.empty() || !rule_.may_go(bytes_, parts_.front().meta.modified()))
        return std::nullopt;
    const Part oldest = std::move(parts_.front());
    parts_.pop_front();
    ++gone_;
    places_.erase(oldest.meta.path());
    bytes_ -= oldest.data.size();
    if (!oldest.meta.is_unchanged() || !oldest.data.is_unchanged())
        throw Error(Fault::storage, EBUSY, "remove", oldest.meta.path(),
                    "it has changed since it was stored", "push again");
    // The samples first: metadata alone is small, and the next push removes it.
    sys::remove_file(oldest.data.path(), "--keep all leaves it");
    sys::remove_file(oldest.meta.path(), "--keep all leaves it");
    return oldest.data.size();
}

} // namespace iio_stream::archive
