// SPDX-License-Identifier: MIT
#include "file/sigmf/timeline.hpp"

#include "core/base/utc.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace iio_stream::file {

namespace {

double rate_in(const Json& object, const char* key, double otherwise)
{
    return object.contains(key) ? object[key].get<double>() : otherwise;
}

// The time at which `samples` more samples have passed; nullopt if 64 bits of nanoseconds cannot
// hold it.
std::optional<std::int64_t> later(std::int64_t utc_ns, std::uint64_t samples, double rate) noexcept
{
    constexpr double kMostNs = 9e18;
    const double ns = 1e9 * static_cast<double>(samples) / rate;
    if (!(ns + std::abs(static_cast<double>(utc_ns)) < kMostNs))
        return std::nullopt;
    return utc_ns + std::llround(ns);
}

} // namespace

Timeline::Timeline(const Json& metadata)
{
    const double rate = rate_in(metadata["global"], "core:sample_rate", 0);
    const Json& captures = metadata["captures"];
    if (captures.empty() || captures[0]["core:sample_start"] != 0)
        entries_.push_back({0, 0, {}, rate});
    for (const Json& capture : captures) {
        const auto position = capture["core:sample_start"].get<std::uint64_t>();
        Entry entry{position, position, {}, rate_in(capture, "iio_stream:sample_rate", rate)};
        if (!entries_.empty())
            entry.index = entries_.back().index + (position - entries_.back().position);
        if (const auto index = capture.find("core:global_index"); index != capture.end())
            entry.index = index->get<std::uint64_t>();
        if (const auto time = capture.find("core:datetime"); time != capture.end())
            entry.utc_ns = detail::utc_of(time->get<std::string>());
        entries_.push_back(entry);
    }
    // Samples before the first capture belong to it.
    if (entries_.size() > 1 && !captures.empty() && captures[0]["core:sample_start"] != 0) {
        const Entry& first = entries_[1];
        entries_[0].index = first.index - std::min(first.index, first.position);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        const Entry* before = i == 0 ? nullptr : &entries_[i - 1];
        if (entry.utc_ns) {
            entry.dated = i;
            entry.is_dated = true;
        } else if (before != nullptr) {
            entry.dated = before->dated;
            entry.is_dated = before->is_dated && before->rate == entry.rate;
        }
    }
}

const Timeline::Entry& Timeline::at(std::uint64_t position) const noexcept
{
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), position,
        [](std::uint64_t value, const Entry& entry) { return value < entry.position; });
    return after == entries_.begin() ? entries_.front() : *std::prev(after);
}

std::uint64_t Timeline::index_of(std::uint64_t position) const noexcept
{
    if (entries_.empty())
        return position;
    const Entry& entry = at(position);
    return entry.index + (position - entry.position);
}

std::optional<std::int64_t> Timeline::utc_ns_of(std::uint64_t position) const noexcept
{
    if (entries_.empty())
        return std::nullopt;
    const Entry& entry = at(position);
    if (!entry.is_dated)
        return std::nullopt;
    const Entry& dated = entries_[entry.dated];
    const std::uint64_t index = entry.index + (position - entry.position);
    if (index == dated.index)
        return dated.utc_ns;
    if (entry.rate <= 0 || index < dated.index)
        return std::nullopt;
    return later(*dated.utc_ns, index - dated.index, entry.rate);
}

std::optional<std::int64_t> Timeline::utc_ns_of_lost(std::uint64_t index,
                                                     std::uint64_t position) const noexcept
{
    if (entries_.empty())
        return std::nullopt;
    // The samples before the loss give the time. If there are none, those after it do.
    const Entry& entry = at(position == 0 ? 0 : position - 1);
    if (!entry.is_dated)
        return std::nullopt;
    const Entry& dated = entries_[entry.dated];
    if (index == dated.index)
        return dated.utc_ns;
    if (entry.rate <= 0 || (index < dated.index && position != 0))
        return std::nullopt;
    if (index > dated.index)
        return later(*dated.utc_ns, index - dated.index, entry.rate);
    const auto before = later(0, dated.index - index, entry.rate);
    return before ? std::optional(*dated.utc_ns - *before) : std::nullopt;
}

std::optional<std::int64_t> Timeline::end_ns_of(std::uint64_t position) const noexcept
{
    if (entries_.empty() || position == 0)
        return std::nullopt;
    const double rate = at(position - 1).rate;
    const auto taken = utc_ns_of(position - 1);
    if (!taken || rate <= 0)
        return std::nullopt;
    return later(*taken, 1, rate);
}

Json by_position(Json metadata)
{
    Json& global = metadata["global"];
    const auto offset = global.value("core:offset", std::uint64_t{0});
    global.erase("core:offset");
    if (offset == 0)
        return metadata;
    for (const char* list : {"captures", "annotations"})
        for (Json& one : metadata[list]) {
            const auto start = one["core:sample_start"].get<std::uint64_t>();
            if (list == std::string("captures") && !one.contains("core:global_index"))
                one["core:global_index"] = start;
            one["core:sample_start"] = start - offset;
        }
    return metadata;
}

} // namespace iio_stream::file
