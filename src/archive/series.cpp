// SPDX-License-Identifier: MIT
#include "archive/series.hpp"

#include "core/loss/losses.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace iio_stream::archive {

namespace {

/// The largest step by which a clock may have been set back between two parts whose sample indexes
/// are not contiguous. A part with an even earlier time is left over from an older recording of the
/// same name.
constexpr std::int64_t kClockStepNs = 60'000'000'000;

[[noreturn]] void does_not_fit(const std::string& what)
{
    throw Error(Fault::storage, EBADMSG, "read", "", what);
}

bool same_channels(const Format& a, const Format& b)
{
    return a.sample_rate == b.sample_rate &&
           std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
                      [](const Channel& one, const Channel& other) {
                          return one.id == other.id && one.type == other.type &&
                                 one.component == other.component;
                      });
}

std::string format_text(const Format& format)
{
    return format.name() + ", " + std::to_string(std::llround(format.sample_rate)) + " Hz";
}

/// Returns whether a part begins where the previous one ends, plus the losses that it records at
/// its start.
bool goes_on_exactly(const Part& part, const Part& before)
{
    std::uint64_t lost = 0;
    for (const Gap& gap : part.gaps)
        if (gap.offset_max == 0)
            lost = detail::add_losses(lost, gap.lost_min);
    return part.index() - before.end() == lost;
}

void check_follows(const Part& part, const Part& before)
{
    if (!same_channels(part.format, before.format))
        does_not_fit("its samples are " + format_text(part.format) + ", but those of " +
                     before.name + " are " + format_text(before.format));
    if (part.device != before.device)
        does_not_fit("it was recorded from device '" + part.device + "', but " + before.name +
                     " from '" + before.device + "'");
    if (part.index() < before.end())
        does_not_fit("it begins at sample index " + std::to_string(part.index()) +
                     ", before the end of " + before.name + " at " + std::to_string(before.end()) +
                     ": they do not belong to the same recording");
    const auto now = part.captures[0].utc_ns, then = before.captures[0].utc_ns;
    if (now && then && *now < *then - kClockStepNs && !goes_on_exactly(part, before))
        does_not_fit("it is dated before " + before.name +
                     ": they do not belong to the same recording");
}

/// Counts the losses of a series, part by part.
class Losses {
public:
    explicit Losses(Series& series) : totals_(series.gaps), missing_(series.missing) {}

    /// Adds the losses in a part, and between it and the previous part. Throws an Error, and counts
    /// nothing, if more samples are recorded as lost than the indexes skip.
    void add(const Part& part, const Part* before)
    {
        const GapTotals saved = totals_;
        const std::size_t known = missing_.size();
        try {
            for (const Zeros& zeros : part.zeros)
                detail::add_loss(totals_, zeros.end - zeros.begin, zeros.end - zeros.begin);
            for (const auto& [place, gaps] : places_of(part, before))
                add_at(part, place, gaps, before);
        } catch (const Error&) {
            totals_ = saved;
            missing_.resize(known);
            throw;
        }
    }

private:
    using Places = std::map<std::uint64_t, std::vector<Gap>>;

    /// Returns the places where samples may be missing, each with the losses that are recorded
    /// there.
    static Places places_of(const Part& part, const Part* before)
    {
        Places places;
        if (before != nullptr)
            places[0];
        for (const Gap& gap : part.gaps)
            places[gap.offset_max].push_back(gap);
        for (std::size_t i = 1; i < part.captures.size(); ++i) {
            const Capture &last = part.captures[i - 1], &next = part.captures[i];
            if (next.index - next.start != last.index - last.start)
                places[next.start];
        }
        return places;
    }

    void add_at(const Part& part, std::uint64_t place, const std::vector<Gap>& gaps,
                const Part* before)
    {
        std::uint64_t least = 0;
        for (const Gap& gap : gaps) {
            least = detail::add_losses(least, gap.lost_min);
            detail::add_loss(totals_, gap.lost_min, gap.lost_max);
        }
        if (place >= part.samples && place != 0)
            return; // the next part's index shows the loss
        const bool first = place == 0;
        if (first && before == nullptr) {
            if (part.index() < least)
                skips_less(place, least, part.index());
            return;
        }
        const std::uint64_t skipped =
            part.index_at(place) - (first ? before->end() : part.index_at(place - 1) + 1);
        if (skipped < least)
            skips_less(place, least, skipped);
        if (skipped == least)
            return;
        detail::add_loss(totals_, skipped - least, skipped - least);
        const bool gone =
            first && part.number && before->number && *part.number != *before->number + 1;
        missing_.push_back(
            {part.name + kMeta, std::to_string(skipped - least) + " samples are missing before " +
                                    (first ? "it" : "sample " + std::to_string(place)) +
                                    (gone ? ": there is no part between " + before->name + " and it"
                                          : ", and not recorded as lost")});
    }

    [[noreturn]] static void skips_less(std::uint64_t place, std::uint64_t least,
                                        std::uint64_t skipped)
    {
        does_not_fit("annotations say that " + std::to_string(least) +
                     " samples are missing before sample " + std::to_string(place) +
                     ", but the indexes say " + std::to_string(skipped));
    }

    GapTotals& totals_;
    std::vector<ArchiveProblem>& missing_;
};

Series made_of(std::string name, std::vector<Part>& parts, std::vector<ArchiveProblem>& damaged)
{
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.number < b.number; });
    Series series;
    series.name = std::move(name);
    Losses losses(series);
    for (Part& part : parts) {
        const Part* before = series.parts.empty() ? nullptr : &series.parts.back();
        try {
            if (before != nullptr && part.samples == 0 &&
                part.gaps.empty()) { // a killed recorder had only predicted its start
                part.captures.resize(1);
                part.captures[0].index = before->end();
                part.captures[0].utc_ns.reset();
            }
            if (before != nullptr)
                check_follows(part, *before);
            losses.add(part, before);
            series.parts.push_back(std::move(part));
        } catch (const Error& error) {
            damaged.push_back({part.name + kMeta, error.detail()});
        }
    }
    return series;
}

/// Returns the value that all captures share; nullopt if it is unknown or changes.
template <typename Get>
std::optional<double> common(const Series& series, Get get)
{
    const std::optional<double> first = get(series.parts[0].captures[0]);
    for (const Part& part : series.parts)
        for (const Capture& capture : part.captures)
            if (get(capture) != first)
                return std::nullopt;
    return first;
}

/// Returns the time from the first sample to the last, at the rates that the captures state.
std::optional<double> seconds_of(const Series& series)
{
    double seconds = 0;
    const Capture* last = nullptr;
    const auto add = [&](std::uint64_t end) {
        if (last != nullptr && last->rate)
            seconds += static_cast<double>(end - last->index) / *last->rate;
        return last == nullptr || last->rate;
    };
    for (const Part& part : series.parts)
        for (const Capture& capture : part.captures) {
            if (!add(capture.index))
                return std::nullopt;
            last = &capture;
        }
    return add(series.end()) ? std::optional(seconds) : std::nullopt;
}

} // namespace

SampleTimes::SampleTimes(const Series& series)
{
    for (const Part& part : series.parts)
        std::copy_if(part.captures.begin(), part.captures.end(), std::back_inserter(dated_),
                     [](const Capture& one) { return one.utc_ns && one.rate; });
}

std::optional<std::int64_t> SampleTimes::utc_ns(std::uint64_t index) const noexcept
{
    if (dated_.empty())
        return std::nullopt;
    auto at = std::upper_bound(
        dated_.begin(), dated_.end(), index,
        [](std::uint64_t wanted, const Capture& one) { return wanted < one.index; });
    if (at != dated_.begin())
        --at;
    const auto samples = static_cast<double>(static_cast<std::int64_t>(index - at->index));
    constexpr double kCentury = 3.2e18; // in nanoseconds; larger offsets are not plausible
    const double ns = samples * 1e9 / *at->rate;
    std::int64_t utc_ns = 0;
    if (!(std::abs(ns) < kCentury) ||
        __builtin_add_overflow(*at->utc_ns, std::llround(ns), &utc_ns))
        return std::nullopt;
    return utc_ns;
}

ArchivedRecording Series::summary() const
{
    ArchivedRecording made;
    made.name = name;
    made.device = parts[0].device;
    made.format = parts[0].format;
    made.begin_ns = SampleTimes(*this).utc_ns(begin());
    made.seconds = seconds_of(*this);
    made.frequency = common(*this, [](const Capture& one) { return one.frequency; });
    made.sample_rate = common(*this, [](const Capture& one) { return one.rate; });
    made.first_index = begin();
    for (const Part& part : parts) {
        made.samples += part.samples;
        made.bytes += part.bytes;
    }
    made.parts = parts.size();
    made.gaps = gaps;
    return made;
}

std::vector<Series> series_of(std::vector<Part> parts, std::vector<ArchiveProblem>& damaged)
{
    std::map<std::pair<std::string, bool>, std::vector<Part>> groups;
    for (Part& part : parts) {
        std::pair key(part.recording(), !part.number);
        groups[std::move(key)].push_back(std::move(part));
    }
    std::vector<Series> made;
    for (auto& [key, group] : groups)
        if (Series series = made_of(key.first, group, damaged); !series.parts.empty())
            made.push_back(std::move(series));
    return made;
}

} // namespace iio_stream::archive
