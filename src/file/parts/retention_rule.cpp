// SPDX-License-Identifier: MIT
#include "file/parts/retention_rule.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <string_view>
#include <utility>

namespace iio_stream::file {

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

RetentionRule::RetentionRule(std::string text) : text_(std::move(text))
{
    const auto refuse = [this](const std::string& hint) {
        fail_usage("keep=" + text_ + " is not a valid rule",
                   hint.empty() ? "all, none, last:SIZE (last:100Gi) or last:TIME (last:24h)"
                                : hint);
    };
    const std::string last = text_.starts_with(kLast) ? text_.substr(kLast.size()) : "";
    all_ = text_ == "all";
    none_ = text_ == "none";
    if (last.empty() && !all_ && !none_)
        refuse("");
    if (last.empty())
        return;
    try {
        if (is_time(last))
            nanoseconds_ = parse_duration("keep", last).count();
        else
            bytes_ = parse_size("keep", last);
    } catch (const Error& error) {
        refuse(error.hint());
    }
}

bool RetentionRule::is_expired(std::uint64_t bytes, std::int64_t age_ns) const noexcept
{
    if (none_ || bytes_)
        return none_ || bytes > *bytes_;
    return nanoseconds_ && age_ns > *nanoseconds_;
}

std::uint64_t most_on_disk(std::uint64_t left, std::uint64_t part_bytes) noexcept
{
    constexpr std::uint64_t kLimit = std::uint64_t{1}
                                     << 60; // larger than any disk, and no sum overflows
    return left > kLimit || part_bytes > kLimit ? kUnknown : left + kPartsOnDisk * part_bytes;
}

} // namespace iio_stream::file
