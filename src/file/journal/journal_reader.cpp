// SPDX-License-Identifier: MIT
#include "file/journal/journal_reader.hpp"

#include "core/base/align.hpp"
#include "core/base/text.hpp"
#include "core/loss/losses.hpp"
#include "file/journal/journal.hpp"
#include "file/sigmf/datatype.hpp"
#include "sys/disk/holes.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace iio_stream::file {

namespace {

bool is_count(const Json& value)
{
    return value.is_number_unsigned();
}

std::optional<Gap> gap_of(const Json& list)
{
    if (!list.is_array() || list.size() != 5 || !is_count(list[0]) || !is_count(list[1]) ||
        !is_count(list[2]) || !(is_count(list[3]) || list[3].is_null()) || !list[4].is_string())
        return std::nullopt;
    const auto evidence = detail::parse_evidence(list[4].get<std::string>());
    if (!evidence || list[1] < list[0] || (is_count(list[3]) && list[3] < list[2]))
        return std::nullopt;
    return Gap{list[0], list[1], list[2],
               list[3].is_null() ? kUnknown : list[3].get<std::uint64_t>(), *evidence};
}

std::optional<Loss> loss_of(const Json& line)
{
    if (const auto gap = gap_of(line.value("gap", Json())))
        return Loss{*gap};
    if (const auto gap = gap_of(line.value("dropped", Json())))
        return Loss{*gap, Loss::Kind::dropped};
    const Json zeros = line.value("zeros", Json());
    if (zeros.is_array() && zeros.size() == 2 && is_count(zeros[0]) && is_count(zeros[1]) &&
        zeros[0] <= zeros[1])
        return zeros_at(zeros[0], zeros[1]);
    return std::nullopt;
}

bool is_number_or_null(const Json& value)
{
    return value.is_number() || value.is_null();
}

// Reads the settings from the four numbers of `list` that begin at `at`.
std::optional<Settings> settings_of(const Json& list, std::size_t at)
{
    if (!list.is_array() || list.size() != at + 4 ||
        !std::all_of(list.begin() + static_cast<std::ptrdiff_t>(at), list.end(), is_number_or_null))
        return std::nullopt;
    const auto number = [&](std::size_t i) {
        return list[i].is_null() ? std::nullopt : std::optional(list[i].get<double>());
    };
    return Settings{number(at), number(at + 1), number(at + 2), number(at + 3)};
}

void add_tuning(JournalContents& left, const Json& line)
{
    if (const Json tuned = line.value("tuned", Json()); is_count(tuned))
        left.tuned = tuned.get<std::uint64_t>();
    if (const auto settings = settings_of(line.value("settings", Json()), 0)) {
        left.settings = settings;
        left.retunings.clear();
    }
    const Json retuned = line.value("retuned", Json());
    const auto settings = settings_of(retuned, 2);
    if (settings && is_count(retuned[0]) && is_count(retuned[1]) && retuned[0] <= retuned[1])
        left.retunings.push_back({retuned[0], retuned[1], *settings, {}});
}

void add_line(JournalContents& left, const Json& line)
{
    add_tuning(left, line);
    if (const Json bytes = line.value("bytes", Json()); is_count(bytes))
        left.bytes = bytes;
    if (const Json losses_final = line.value("losses_final", Json()); is_count(losses_final))
        left.losses_final = losses_final.get<std::uint64_t>();
    if (const Json end = line.value("end", Json()); is_count(end))
        left.end = end.get<std::uint64_t>();
    if (const Json first = line.value("first", Json());
        first.is_array() && first.size() == 2 && is_count(first[0]) && first[1].is_boolean()) {
        left.first_index = first[0].get<std::uint64_t>();
        left.first_exact = first[1];
        if (const Json before = line.value("bytes_before", Json()); is_count(before))
            left.bytes_before = before;
    }
    if (const auto loss = loss_of(line))
        add_loss(left.losses, *loss);
}

} // namespace

Tunings JournalContents::tunings(const Settings& said) const
{
    Tunings tunings;
    tunings.first = settings.value_or(said);
    tunings.changed = settings.has_value();
    for (const Retuned& retuned : retunings)
        tunings.add(retuned.begin, retuned.end, retuned.settings, false);
    if (!end)
        tunings.unread_from = tuned;
    return tunings;
}

JournalContents parse_journal(const std::string& text)
{
    JournalContents left;
    bool known = false;
    for (const std::string& line : detail::split(text, '\n')) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object())
            break; // torn line
        if (known) {
            add_line(left, json);
            continue;
        }
        // The first line states the format. Stop if it is unknown.
        if (json.value("iio_stream_journal", Json()) != 1 ||
            !is_count(json.value("sample_bytes", Json())))
            break;
        left.sample_bytes = json["sample_bytes"];
        if (const Json part = json.value("part", Json()); is_count(part))
            left.part = part;
        left.reserved = json.value("reserved", Json(true)) != false;
        known = true;
    }
    return left;
}

std::optional<JournalContents> read_journal(const std::string& data)
{
    const auto text = sys::read_whole(journal_path(data));
    if (!text)
        return std::nullopt;
    return parse_journal(*text);
}

namespace {

constexpr std::uint64_t whole_sectors(std::uint64_t bytes)
{
    constexpr std::uint64_t kSector = 512;
    return (bytes + kSector - 1) / kSector * kSector;
}

// The end of the data between `begin` and `end`, without the zeros after them.
std::uint64_t end_of_data(int fd, const std::string& data, std::uint64_t begin, std::uint64_t end)
{
    std::vector<std::byte> chunk(256 * detail::kPage);
    while (end > begin) {
        const std::uint64_t at = std::max(begin, end - std::min<std::uint64_t>(end, chunk.size()));
        const std::span<std::byte> part =
            std::span(chunk).first(static_cast<std::size_t>(end - at));
        (void)sys::read_at(fd, data, at, part);
        const auto last =
            std::find_if(part.rbegin(), part.rend(), [](std::byte b) { return b != std::byte{}; });
        end = at + static_cast<std::uint64_t>(part.rend() - last);
        if (end != at)
            break;
    }
    return end;
}

// The end of the samples before `hole`. The last block before a hole may be partly written: writes
// are whole sectors, holes are whole blocks, and the rest of a block reads as zeros. The bytes up
// to `known` are samples.
std::uint64_t without_filling(int fd, const std::string& data, std::uint64_t hole,
                              std::uint64_t known)
{
    constexpr std::uint64_t kLargestBlock = 64 << 10;
    const std::uint64_t block = std::min({sys::file_block(fd, data), kLargestBlock, hole});
    const std::uint64_t begin = std::max(known, hole - block);
    if (begin >= hole)
        return hole;
    return std::min(hole, std::max(known, whole_sectors(end_of_data(fd, data, begin, hole))));
}

// The place of the first page of zeros; `end` if there is none.
std::uint64_t first_zero_page(int fd, const std::string& data, std::uint64_t begin,
                              std::uint64_t end)
{
    constexpr std::uint64_t kPage = detail::kPage;
    std::vector<std::byte> chunk(256 * kPage);
    for (std::uint64_t at = detail::round_up(begin, kPage); at < end; at += chunk.size()) {
        const auto part = std::span(chunk).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(end - at, chunk.size())));
        (void)sys::read_at(fd, data, at, part);
        for (std::size_t page = 0; page + kPage <= part.size(); page += kPage)
            if (sys::all_zeros(part.subspan(page, kPage)))
                return at + page;
    }
    return end;
}

// A copy has zeros where the original had holes. The end of a file is a hole if the writer reserved
// space that it did not fill. There is also a hole before a block that was written sooner than the
// block before it. Zeros among the last samples may thus be holes, unless they are shorter than a
// page or before `known`.
std::uint64_t without_copied_holes(int fd, const std::string& data, std::uint64_t size,
                                   std::uint64_t known)
{
    constexpr std::uint64_t kMostInFlight =
        256 << 20; // 16 times the bytes that io_plan.cpp keeps in flight, unless depth= is given
    const std::uint64_t end = end_of_data(fd, data, known, size);
    if (size - end < detail::kPage)
        return size;
    const std::uint64_t hole =
        first_zero_page(fd, data, std::max(known, end - std::min(end, kMostInFlight)), end);
    return hole < end ? without_filling(fd, data, hole, known) : std::min(size, whole_sectors(end));
}

} // namespace

std::uint64_t valid_bytes(int fd, const std::string& data,
                          const std::optional<JournalContents>& journal, std::size_t sample_bytes,
                          Holes holes)
{
    const std::uint64_t size = sys::file_size(fd, data);
    std::uint64_t bytes = std::min(size, sys::first_hole(fd, data));
    if (bytes < size && holes == Holes::reported)
        bytes = without_filling(fd, data, bytes, journal ? std::min(journal->bytes, bytes) : 0);
    else if (bytes == size && holes == Holes::reported && (!journal || journal->reserved))
        bytes =
            without_copied_holes(fd, data, bytes, journal ? std::min(journal->bytes, bytes) : 0);
    if (journal && holes == Holes::unknown)
        bytes = std::min(bytes, journal->bytes);
    if (journal && journal->end)
        bytes = std::min(bytes, *journal->end);
    return bytes - bytes % sample_bytes;
}

} // namespace iio_stream::file
