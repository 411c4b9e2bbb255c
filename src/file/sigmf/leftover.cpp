// SPDX-License-Identifier: MIT
#include "file/sigmf/leftover.hpp"

#include "core/evidence.hpp"
#include "core/text.hpp"
#include "file/journal.hpp"
#include "file/sigmf/datatype.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"
#include "sys/whole_file.hpp"

#include <algorithm>
#include <fcntl.h>

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
    if (!evidence || list[1] < list[0])
        return std::nullopt;
    return Gap{list[0], list[1], list[2],
               list[3].is_null() ? kUnknown : list[3].get<std::uint64_t>(), *evidence};
}

} // namespace

Leftover parse_journal(const std::string& text)
{
    Leftover left;
    bool known = false;
    for (const std::string& line : detail::split(text, '\n')) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object())
            break;    // torn
        if (!known) { // the first line, or all is of a kind that we do not know
            if (json.value("iio_stream_journal", Json()) != 1 ||
                !is_count(json.value("sample_bytes", Json())))
                break;
            left.sample_bytes = json["sample_bytes"];
            known = true;
        } else if (const Json bytes = json.value("bytes", Json()); is_count(bytes)) {
            left.bytes = bytes;
        } else if (const auto gap = gap_of(json.value("gap", Json()))) {
            left.gaps.push_back(*gap);
        }
    }
    return left;
}

std::optional<Leftover> read_journal(const std::string& data)
{
    const auto text = sys::read_text(journal_path(data));
    if (!text)
        return std::nullopt;
    return parse_journal(*text);
}

std::uint64_t valid_bytes(const std::string& data, const std::optional<Leftover>& journal,
                          std::size_t sample_bytes, bool may_have_holes)
{
    const sys::UniqueFd fd = sys::open_file(data, O_RDONLY);
    std::uint64_t bytes = sys::file_size(fd.get(), data);
    if (journal)
        bytes = std::min(bytes, journal->bytes);
    if (journal || may_have_holes)
        bytes = std::min(bytes, sys::first_hole(fd.get(), data));
    return bytes - bytes % sample_bytes;
}

} // namespace iio_stream::file
