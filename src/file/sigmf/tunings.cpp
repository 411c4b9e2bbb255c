// SPDX-License-Identifier: MIT
#include "file/sigmf/tunings.hpp"

#include "file/sigmf/rules.hpp"
#include "iio_stream/api.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

namespace iio_stream::file {

namespace {

/// A quantity. It is in `global` if it has one value throughout, otherwise in captures.
struct Quantity {
    std::optional<double> Settings::*value;
    const char* global; ///< null: never in `global`
    const char* capture;
    const char* name;
    const char* unit;
};

constexpr std::array kQuantities{
    Quantity{&Settings::frequency, nullptr, "core:frequency", "frequency", " Hz"},
    Quantity{&Settings::gain, "iio_stream:gain_db", "iio_stream:gain_db", "gain", " dB"},
    Quantity{&Settings::bandwidth, "iio_stream:bandwidth_hz", "iio_stream:bandwidth_hz",
             "bandwidth", " Hz"},
    Quantity{&Settings::rate, "core:sample_rate", "iio_stream:sample_rate", "sample rate", " Hz"}};

/// The known settings, keyed by the sample of the file from which they apply.
using Spans = std::map<std::uint64_t, Settings>;

Spans spans_of(const Tunings& tunings, std::uint64_t samples)
{
    Spans spans{{0, tunings.first}};
    for (const Retuned& retuned : tunings.later) {
        spans[retuned.begin] = retuned.between;
        spans[retuned.end] = retuned.settings;
    }
    if (const auto from = tunings.unread_from) {
        // The recording's rate is kept unless it was found to have changed.
        const Settings last = std::prev(spans.upper_bound(*from))->second;
        spans.erase(spans.lower_bound(*from), spans.end());
        spans[*from] = {std::nullopt, std::nullopt, std::nullopt, last.rate};
    }
    spans.erase(spans.lower_bound(std::max<std::uint64_t>(samples, 1)), spans.end());
    return spans;
}

std::uint64_t start_of_capture(const Json& capture)
{
    return capture["core:sample_start"].get<std::uint64_t>();
}

// Adds a capture for each span. Its index follows from the capture before it.
Json cut_captures(const Json& captures, const Spans& spans, const Outcome& outcome)
{
    std::map<std::uint64_t, Json> all;
    for (const Json& capture : captures)
        all[start_of_capture(capture)] = capture;
    for (const auto& [start, settings] : spans) {
        const auto next = all.upper_bound(start);
        const Json& before = std::prev(next)->second;
        const std::uint64_t begin = start_of_capture(before);
        if (begin == start)
            continue;
        Json capture{{"core:sample_start", start}};
        capture["core:global_index"] = before.value("core:global_index", begin) + (start - begin);
        if (before.contains("iio_stream:index_exact") || !index_exact_at(start, outcome.losses))
            capture["iio_stream:index_exact"] = false;
        all[start] = capture;
    }
    Json list = Json::array();
    for (const auto& [start, capture] : all)
        list.push_back(capture);
    return list;
}

void set_or_erase(Json& object, const char* key, const std::optional<double>& value)
{
    if (value && std::abs(*value) <= kMostHz)
        object[key] = *value;
    else
        object.erase(key);
}

void write_quantity(Json& metadata, const Quantity& quantity, const Spans& spans)
{
    const auto value_at = [&](const auto& span) { return span.second.*quantity.value; };
    const auto first = value_at(*spans.begin());
    const bool constant = std::all_of(spans.begin(), spans.end(),
                                      [&](const auto& span) { return value_at(span) == first; });
    if (constant && quantity.global != nullptr) {
        if (first)
            set_or_erase(metadata["global"], quantity.global, first);
        return;
    }
    if (quantity.global != nullptr)
        metadata["global"].erase(quantity.global);
    for (Json& capture : metadata["captures"])
        set_or_erase(capture, quantity.capture,
                     value_at(*std::prev(spans.upper_bound(start_of_capture(capture)))));
}

std::string value_text(const Quantity& quantity, const std::optional<double>& value)
{
    if (!value)
        return "unknown";
    char text[40];
    std::snprintf(text, sizeof text, "%.15g", *value);
    return text + std::string(quantity.unit);
}

std::string change_text(const Settings& before, const Settings& after)
{
    std::string text;
    for (const Quantity& quantity : kQuantities)
        if (before.*quantity.value != after.*quantity.value)
            text += std::string(quantity.name) + " from " +
                    value_text(quantity, before.*quantity.value) + " to " +
                    value_text(quantity, after.*quantity.value) + ", ";
    return text.empty() ? "the radio was retuned and set back, somewhere in these samples"
                        : text + "somewhere in these samples";
}

Json annotation_for(std::uint64_t begin, std::uint64_t end, const char* label,
                    const std::string& comment)
{
    return {{"core:sample_start", begin},
            {"core:sample_count", end - begin},
            {"core:generator", std::string("iio-stream ") + kVersion},
            {"core:label", label},
            {"core:comment", comment}};
}

} // namespace

bool is_of_tuning(const std::string& key)
{
    return std::any_of(kQuantities.begin(), kQuantities.end(),
                       [&](const Quantity& quantity) { return key == quantity.capture; });
}

void write_tunings(Json& metadata, const Outcome& outcome)
{
    if (!outcome.tunings.changed && !outcome.tunings.unread_from)
        return;
    const Spans spans = spans_of(outcome.tunings, outcome.samples);
    metadata["captures"] = cut_captures(metadata["captures"], spans, outcome);
    for (const Quantity& quantity : kQuantities)
        write_quantity(metadata, quantity, spans);
}

void annotate_tunings(Json& annotations, const Outcome& outcome)
{
    const Tunings& tunings = outcome.tunings;
    const Settings* before = &tunings.first;
    for (const Retuned& retuned : tunings.later) {
        if (retuned.begin < outcome.samples)
            annotations.push_back(annotation_for(retuned.begin,
                                                 std::min(retuned.end, outcome.samples), "retuning",
                                                 change_text(*before, retuned.settings)));
        before = &retuned.settings;
    }
    if (tunings.unread_from && *tunings.unread_from < outcome.samples)
        annotations.push_back(
            annotation_for(*tunings.unread_from, outcome.samples, "possible retuning",
                           "the radio was not read again: frequency before " +
                               value_text(kQuantities[0], before->frequency) + ", gain " +
                               value_text(kQuantities[1], before->gain)));
}

} // namespace iio_stream::file
