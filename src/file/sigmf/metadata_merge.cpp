// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata_merge.hpp"

#include "file/sigmf/tunings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace iio_stream::file {

namespace {

constexpr std::array kOfItsPlace{"core:global_index", "iio_stream:index_exact"};

std::uint64_t start_of(const Json& one)
{
    return one["core:sample_start"].get<std::uint64_t>();
}

bool is_ours(const Json& annotation)
{
    const auto at = annotation.find("core:generator");
    return at != annotation.end() && at->is_string() &&
           at->get_ref<const std::string&>().starts_with("iio-stream ");
}

enum class Radio { unchanged, retuned };

// Joins two captures. The values of `theirs` take precedence over those of `ours`, except for the
// place in the stream and, if the radio was retuned, its settings.
Json joined(const Json& theirs, const Json& ours, Radio radio)
{
    Json one = ours;
    for (const auto& [key, value] : theirs.items())
        if (std::find(kOfItsPlace.begin(), kOfItsPlace.end(), key) == kOfItsPlace.end() &&
            (radio == Radio::unchanged || !is_of_tuning(key)))
            one[key] = value;
    return one;
}

// Our capture within one of theirs: it inherits everything except the time.
Json continued(const Json& theirs, const Json& ours, Radio radio)
{
    Json base = theirs;
    base.erase("core:datetime");
    Json one = joined(base, ours, radio);
    one["core:sample_start"] = ours["core:sample_start"];
    if (ours.contains("core:datetime"))
        one["core:datetime"] = ours["core:datetime"];
    return one;
}

Json merged(const Json& theirs, const Json& ours, std::uint64_t samples, Radio radio)
{
    std::map<std::uint64_t, Json> all;
    for (const Json& one : theirs)
        if (start_of(one) < samples || start_of(one) == 0)
            all[start_of(one)] = one;
    std::map<std::uint64_t, Json> added;
    for (const Json& one : ours) {
        const auto next = all.upper_bound(start_of(one));
        const bool within = next != all.begin();
        const auto at = within ? std::prev(next) : next;
        if (within && at->first == start_of(one))
            added[at->first] = joined(at->second, one, radio);
        else
            added[start_of(one)] = within ? continued(at->second, one, radio) : one;
    }
    for (auto& [start, one] : added)
        all[start] = one;
    Json list = Json::array();
    for (const auto& [start, one] : all)
        list.push_back(one);
    return list;
}

// Removes the annotations that iio-stream wrote before, because they are written again.
Json without_ours(const Json& annotations)
{
    Json theirs = Json::array();
    for (const Json& one : annotations)
        if (!is_ours(one))
            theirs.push_back(one);
    return theirs;
}

} // namespace

Json merged_captures(const Json& theirs, const Json& ours, std::uint64_t samples)
{
    return merged(theirs, ours, samples, Radio::unchanged);
}

Json merged_annotations(const Json& theirs, const Json& ours, std::uint64_t samples)
{
    std::vector<Json> all(ours.begin(), ours.end());
    for (Json one : theirs) {
        if (start_of(one) > samples)
            continue;
        const auto count = one.find("core:sample_count");
        if (count != one.end() && count->get<std::uint64_t>() > samples - start_of(one))
            *count = samples - start_of(one);
        all.push_back(one);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Json& a, const Json& b) { return start_of(a) < start_of(b); });
    return all;
}

// The places in a file whose front was cut off, or that was appended to another, count from
// core:offset.
void merge_into_edited(Json& metadata, const Outcome& outcome)
{
    const auto offset = metadata["global"].value("core:offset", std::uint64_t{0});
    for (const char* list : {"captures", "annotations"})
        for (Json& one : metadata[list])
            one["core:sample_start"] = start_of(one) - std::min(start_of(one), offset);
    const Json captures = metadata["captures"], annotations = metadata["annotations"];
    write_outcome(metadata, outcome);
    const bool tuned = outcome.tunings.changed || outcome.tunings.unread_from;
    metadata["captures"] = merged(captures, metadata["captures"], outcome.samples,
                                  tuned ? Radio::retuned : Radio::unchanged);
    metadata["annotations"] =
        merged_annotations(without_ours(annotations), metadata["annotations"], outcome.samples);
    for (const char* list : {"captures", "annotations"})
        for (Json& one : metadata[list])
            one["core:sample_start"] = start_of(one) + offset;
}

} // namespace iio_stream::file
