// SPDX-License-Identifier: MIT
#include "file/sigmf/rules.hpp"

#include "core/base/utc.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

namespace iio_stream::file {

namespace {

// These functions return the requirement that a value violates; "" if there is none. The caller
// adds key and value.
std::string want_text(const Json& value)
{
    return value.is_string() ? "" : "must be a string";
}

std::string want_count(const Json& value)
{
    if (const auto count = count_in(value); count && *count <= kMostCount)
        return "";
    return "must be a whole number from 0 to 2^63-1";
}

std::string want_positive(const Json& value)
{
    return want_count(value).empty() && value != 0 ? "" : "must be a whole number above 0";
}

std::string want_rate(const Json& value)
{
    if (value.is_number() && value.get<double>() > 0 && value.get<double>() <= kMostHz)
        return "";
    return "must be a number above 0, up to 1e12";
}

std::string want_frequency(const Json& value)
{
    if (value.is_number() && std::abs(value.get<double>()) <= kMostHz)
        return "";
    return "must be a number from -1e12 to 1e12";
}

std::string want_number(const Json& value)
{
    return value.is_number() ? "" : "must be a number";
}

std::string want_switch(const Json& value)
{
    return value.is_boolean() ? "" : "must be true or false";
}

std::string matches(const Json& value, const std::regex& pattern, const char* otherwise)
{
    if (value.is_string() && value.get_ref<const std::string&>().size() <= 256 &&
        std::regex_match(value.get_ref<const std::string&>(), pattern))
        return "";
    return otherwise;
}

std::string want_datatype(const Json& value)
{
    if (value.is_string() && is_datatype(value.get<std::string>()))
        return "";
    return "is not a datatype: r or c, then f32 f64 i32 i16 u32 u16 with _le or _be, or i8 "
           "u8";
}

// SigMF's JSON schema also accepts a byte order for single bytes, and none for wider values. Values
// without one are little-endian in every known recording.
Json repaired_datatype(const Json& value)
{
    if (!value.is_string())
        return {};
    const std::string name = value.get<std::string>();
    const bool has_order = name.ends_with("_le") || name.ends_with("_be");
    const std::string other = has_order ? name.substr(0, name.size() - 3) : name + "_le";
    return is_datatype(other) ? Json(other) : Json();
}

std::string want_version(const Json& value)
{
    static const std::regex pattern("\\d+\\.\\d+\\.\\d+");
    std::string why = matches(value, pattern, "must be X.Y.Z");
    if (!why.empty() || value.get<std::string>().starts_with("1."))
        return why;
    return "is an unknown version: only 1.x.y is known";
}

std::string want_hash(const Json& value)
{
    const bool good = value.is_string() && value.get_ref<const std::string&>().size() == 128 &&
                      value.get_ref<const std::string&>().find_first_not_of(
                          "0123456789abcdefABCDEF") == std::string::npos;
    return good ? "" : "must be 128 hexadecimal digits";
}

std::string want_time(const Json& value)
{
    static const std::regex pattern(
        "\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:"
        "([0-5]\\d|60)(\\.\\d+)?Z");
    return matches(value, pattern, "must be a UTC time such as 2026-01-01T00:00:00.5Z");
}

// A time without a zone is read as UTC; a time in another zone is converted.
Json repaired_time(const Json& value)
{
    static const std::regex zone("[+-]([01]\\d|2[0-3]):?[0-5]\\d");
    if (!value.is_string() || value.get_ref<const std::string&>().size() > 64)
        return {};
    constexpr std::int64_t kMinuteNs = 60'000'000'000;
    std::string text = value.get<std::string>();
    std::int64_t ahead_ns = 0;
    std::smatch found;
    const std::size_t time = std::min(text.find_first_of("T "), text.size());
    const std::string tail = text.substr(time);
    if (std::regex_search(tail, found, zone) && found.suffix().length() == 0) {
        const std::string offset = found.str();
        const int minutes =
            std::stoi(offset.substr(1, 2)) * 60 + std::stoi(offset.substr(offset.size() - 2));
        ahead_ns = (offset[0] == '-' ? -minutes : minutes) * kMinuteNs;
        text.resize(text.size() - offset.size());
    } else if (text.ends_with('z')) {
        text.pop_back();
    }
    const auto ns = detail::utc_of(text);
    return ns ? Json(format_utc(*ns - ahead_ns)) : Json();
}

std::string want_uuid(const Json& value)
{
    static const std::regex pattern("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
    return matches(value, pattern, "must be a UUID");
}

std::string want_place(const Json& value)
{
    const bool point = value.is_object() && value.contains("type") && value["type"] == "Point" &&
                       value.contains("coordinates") && value["coordinates"].is_array();
    if (!point)
        return "must be a GeoJSON Point";
    const Json& at = value["coordinates"];
    const bool numbers =
        std::all_of(at.begin(), at.end(), [](const Json& number) { return number.is_number(); });
    return numbers && (at.size() == 2 || at.size() == 3) ? ""
                                                         : "must have two or three coordinates";
}

std::string want_file_name(const Json& value)
{
    if (value.is_string() && !value.get_ref<const std::string&>().empty() &&
        value.get_ref<const std::string&>().find_first_of(std::string_view("/\\:*?\"<>|\0", 10)) ==
            std::string::npos)
        return "";
    return "must be the name of a file, without a folder";
}

std::string want_count_or_null(const Json& value)
{
    return value.is_null() ? "" : want_count(value);
}

std::string want_state(const Json& value)
{
    for (const char* state : {"recording", "complete", "interrupted", "recovered"})
        if (value == state)
            return "";
    return "is not a known state";
}

constexpr std::array kGlobal{
    Rule{"core:datatype", want_datatype, Rule::must, Rule::prevents_reading, repaired_datatype},
    Rule{"core:version", want_version, Rule::must},
    Rule{"core:num_channels", want_positive, Rule::may, Rule::prevents_reading},
    Rule{"core:sample_rate", want_rate},
    Rule{"core:sha512", want_hash},
    Rule{"core:offset", want_count},
    Rule{"core:description", want_text},
    Rule{"core:author", want_text},
    Rule{"core:meta_doi", want_text},
    Rule{"core:data_doi", want_text},
    Rule{"core:recorder", want_text},
    Rule{"core:license", want_text},
    Rule{"core:hw", want_text},
    Rule{"core:collection", want_text},
    Rule{"core:dataset", want_file_name, Rule::may, Rule::prevents_reading},
    Rule{"core:trailing_bytes", want_count, Rule::may, Rule::prevents_reading},
    Rule{"core:metadata_only", want_switch},
    Rule{"core:geolocation", want_place},
    Rule{"iio_stream:state", want_state},
    Rule{"iio_stream:samples", want_count},
    Rule{"iio_stream:gain_db", want_number},
    Rule{"iio_stream:bandwidth_hz", want_number},
    Rule{"iio_stream:antenna", want_text},
    Rule{"iio_stream:hostname", want_text}};
constexpr std::array kCapture{
    Rule{"core:sample_start", want_count, Rule::must},
    Rule{"core:datetime", want_time, Rule::may, Rule::left_out, repaired_time},
    Rule{"core:frequency", want_frequency},
    Rule{"core:global_index", want_count},
    Rule{"core:header_bytes", want_count, Rule::may, Rule::prevents_reading},
    Rule{"core:geolocation", want_place},
    Rule{"iio_stream:index_exact", want_switch},
    Rule{"iio_stream:gain_db", want_number},
    Rule{"iio_stream:bandwidth_hz", want_number},
    Rule{"iio_stream:sample_rate", want_rate}};
constexpr std::array kAnnotation{Rule{"core:sample_start", want_count, Rule::must},
                                 Rule{"core:sample_count", want_count},
                                 Rule{"core:freq_lower_edge", want_frequency},
                                 Rule{"core:freq_upper_edge", want_frequency},
                                 Rule{"core:label", want_text},
                                 Rule{"core:comment", want_text},
                                 Rule{"core:generator", want_text},
                                 Rule{"core:uuid", want_uuid},
                                 Rule{"iio_stream:lost_min", want_count},
                                 Rule{"iio_stream:lost_max", want_count_or_null},
                                 Rule{"iio_stream:evidence", want_text},
                                 Rule{"iio_stream:filled", want_count}};

} // namespace

std::span<const Rule> global_rules() noexcept
{
    return kGlobal;
}

std::span<const Rule> capture_rules() noexcept
{
    return kCapture;
}

std::span<const Rule> annotation_rules() noexcept
{
    return kAnnotation;
}

} // namespace iio_stream::file
