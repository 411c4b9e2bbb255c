// SPDX-License-Identifier: MIT
#include "cli/commands/archive.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/archive_index.hpp"
#include "iio_stream/printable.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace iio_stream::cli {

namespace {

constexpr std::int64_t kNs = 1'000'000'000;

Json recording_of(const ArchivedRecording& one)
{
    return {{"name", one.name},
            {"begin", one.begin_ns ? Json(format_utc(*one.begin_ns)) : Json(nullptr)},
            {"seconds", or_null(one.seconds)},
            {"device", or_null(one.device)},
            {"frequency", or_null(one.frequency)},
            {"sample_rate", or_null(one.sample_rate)},
            {"sample_format", one.format.name()},
            {"first_index", one.first_index},
            {"samples", one.samples},
            {"bytes", one.bytes},
            {"parts", one.parts},
            {"gaps", gaps_json(one.gaps)}};
}

struct Totals {
    std::uint64_t parts = 0, bytes = 0;

    explicit Totals(const ArchiveListing& found)
    {
        for (const ArchivedRecording& one : found.recordings) {
            parts += one.parts;
            bytes += one.bytes;
        }
    }
};

using AsOf = std::optional<std::int64_t>; ///< IndexedListing::as_of_ns; nullopt without --indexed

Json listing_json(const ArchiveConfig& config, const ArchiveListing& found, const AsOf& as_of)
{
    const Totals totals(found);
    Json json{{"place", config.place},
              {"as_of", as_of ? Json(format_utc(*as_of)) : Json(nullptr)},
              {"recordings", Json::array()},
              {"unfinished", found.unfinished}};
    for (const ArchivedRecording& one : found.recordings)
        json["recordings"].push_back(recording_of(one));
    json["damaged"] = problems_json(found.damaged);
    json["parts"] = totals.parts;
    json["bytes"] = totals.bytes;
    return json;
}

std::string length_text(const std::optional<double>& seconds)
{
    if (!seconds)
        return "-";
    char text[64];
    const auto whole = static_cast<unsigned long long>(*seconds);
    if (whole < 60)
        std::snprintf(text, sizeof text, "%.3f s", *seconds);
    else
        std::snprintf(text, sizeof text, "%llu:%02llu:%02llu h", whole / 3600, whole / 60 % 60,
                      whole % 60);
    return text;
}

std::string hertz_text(const std::optional<double>& value, const char* unit)
{
    if (!value)
        return "-";
    const std::string count = human_count(*value); // contains a space if it has a prefix
    return count + (count.find(' ') == std::string::npos ? " " : "") + unit;
}

std::string losses_text(const GapTotals& gaps)
{
    if (gaps.certain + gaps.possible == 0)
        return "none";
    std::string text = std::to_string(gaps.certain) + " certain";
    if (gaps.possible != 0)
        text += ", " + std::to_string(gaps.possible) + " possible";
    return text;
}

constexpr std::size_t kColumns = 9;
using Row = std::array<std::string, kColumns>;

Row row_of(const ArchivedRecording& one)
{
    return {printable(one.name),
            one.begin_ns ? format_utc(*one.begin_ns / kNs * kNs) : "-",
            length_text(one.seconds),
            one.device.empty() ? "-" : printable(one.device),
            hertz_text(one.frequency, "Hz"),
            hertz_text(one.sample_rate, "S/s"),
            std::to_string(one.samples),
            std::to_string(one.parts),
            losses_text(one.gaps)};
}

void print_table(const std::vector<Row>& rows)
{
    std::array<std::size_t, kColumns> widths{};
    for (const Row& row : rows)
        for (std::size_t i = 0; i < kColumns; ++i)
            widths[i] = std::max(widths[i], row[i].size());
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t i = 0; i + 1 < kColumns; ++i)
            line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        print_line(stdout, "%s%s", line.c_str(), row.back().c_str());
    }
}

void print_listing(const ArchiveConfig& config, const ArchiveListing& found, const AsOf& as_of)
{
    if (!found.recordings.empty()) {
        std::vector<Row> rows{{"NAME", "BEGIN", "LENGTH", "DEVICE", "FREQUENCY", "RATE", "SAMPLES",
                               "PARTS", "LOSSES"}};
        for (const ArchivedRecording& one : found.recordings)
            rows.push_back(row_of(one));
        print_table(rows);
    }
    for (const std::string& name : found.unfinished)
        print_line(stdout, "unfinished: %s", name.c_str());
    for (const ArchiveProblem& one : found.damaged)
        print_line(stdout, "damaged: %s: %s", one.name.c_str(), one.what.c_str());
    const Totals totals(found);
    const std::string when = as_of ? "; as of " + format_utc(*as_of / kNs * kNs) +
                                         ", when `iio-stream archive index` last ran"
                                   : "";
    print_line(stdout, "%s: %s in %s, %s; %zu unfinished, %zu damaged%s", config.place.c_str(),
               counted(found.recordings.size(), "recording").c_str(),
               counted(totals.parts, "part").c_str(), size_text(totals.bytes).c_str(),
               found.unfinished.size(), found.damaged.size(), when.c_str());
}

} // namespace

int archive_list(const ArchiveConfig& config, bool indexed, const ArchiveOutput& output)
{
    ArchiveListing found;
    AsOf as_of;
    const std::optional<Error> error = run_archive([&]() -> std::optional<Error> {
        const auto go_on = [] { return !is_archive_ended(); };
        if (indexed) {
            IndexedListing listed = list_index(config, go_on);
            as_of = listed.as_of_ns;
            found = std::move(listed);
        } else {
            found = list_archive(config, go_on);
        }
        return {};
    });
    return report_archive({"list", listing_json(config, found, as_of), {}, error}, output, [&] {
        if (!error)
            print_listing(config, found, as_of);
    });
}

} // namespace iio_stream::cli
