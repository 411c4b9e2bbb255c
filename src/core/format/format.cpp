// SPDX-License-Identifier: MIT
#include "iio_stream/format.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace iio_stream {

namespace {

using Number = ScanType::Number;

constexpr std::size_t kMaxChannels = 64;

// Removes a decimal number from the front of `text` and returns it.
std::optional<unsigned> take_number(std::string_view& text)
{
    unsigned value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    return value;
}

bool take(std::string_view& text, std::string_view prefix)
{
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

// ADI's drivers write S and U for "fully defined": the bits above the value extend its sign. The
// value is the same, because it is masked and sign-extended in any case.
std::optional<Number> take_kind(std::string_view& text)
{
    if (take(text, "s") || take(text, "S"))
        return Number::signed_integer;
    if (take(text, "u") || take(text, "U"))
        return Number::unsigned_integer;
    if (take(text, "f"))
        return Number::floating;
    return std::nullopt;
}

bool sensible(const ScanType& type)
{
    const bool whole = type.storage_bits == 8 || type.storage_bits == 16 ||
                       type.storage_bits == 32 || type.storage_bits == 64;
    if (type.number == Number::floating &&
        (type.bits != type.storage_bits || type.storage_bits < 32 || type.shift != 0))
        return false;
    return whole && type.bits >= 1 && type.bits <= type.storage_bits &&
           type.shift <= type.storage_bits - type.bits && type.repeat >= 1 && type.repeat <= 64;
}

std::optional<ScanType> parse_scan_type(std::string_view text)
{
    ScanType type;
    if (take(text, "be:"))
        type.big_endian = true;
    else if (!take(text, "le:"))
        return std::nullopt;
    const auto kind = take_kind(text);
    const auto bits = take_number(text);
    if (!kind || !bits || !take(text, "/"))
        return std::nullopt;
    const auto storage = take_number(text);
    if (!storage)
        return std::nullopt;
    type.number = *kind;
    type.bits = *bits;
    type.storage_bits = *storage;
    if (take(text, "X")) {
        const auto repeat = take_number(text);
        if (!repeat)
            return std::nullopt;
        type.repeat = *repeat;
    }
    if (take(text, ">>")) {
        const auto shift = take_number(text);
        if (!shift)
            return std::nullopt;
        type.shift = *shift;
    }
    if (!text.empty() || !sensible(type))
        return std::nullopt;
    return type;
}

// SigMF 1.2.5, core:datatype: (r|c)(f32|f64|i32|i16|u32|u16)(_le|_be) and (r|c)(i8|u8).
std::optional<std::string> sigmf_name(const ScanType& type)
{
    if (type.bits != type.storage_bits || type.repeat != 1)
        return std::nullopt;
    if (type.storage_bits == 64 && type.number != Number::floating)
        return std::nullopt;
    const char* kind = type.number == Number::floating         ? "f"
                       : type.number == Number::signed_integer ? "i"
                                                               : "u";
    std::string name = kind + std::to_string(type.storage_bits);
    if (type.storage_bits > 8)
        name += type.big_endian ? "_be" : "_le";
    return name;
}

std::optional<ScanType> parse_sigmf(std::string_view text)
{
    ScanType type;
    if (take(text, "f"))
        type.number = Number::floating;
    else if (take(text, "u"))
        type.number = Number::unsigned_integer;
    else if (!take(text, "i"))
        return std::nullopt;
    const auto bits = take_number(text);
    if (!bits)
        return std::nullopt;
    type.bits = type.storage_bits = *bits;
    if (text == "_be")
        type.big_endian = true;
    else if (!(text == "_le" || text.empty())) // users write "cf32" for this machine's byte order
        return std::nullopt;
    if (*bits == 8 && !text.empty())
        return std::nullopt;
    // sigmf_name() defines the SigMF types: a name that it would not produce is not valid.
    if (!sensible(type) || !sigmf_name(type))
        return std::nullopt;
    return type;
}

// Names of formats in UHD, SoapySDR and GNU Radio, and our names.
constexpr std::pair<std::string_view, const char*> kForeignFormats[] = {
    {"fc32", "cf32_le"},  {"fc64", "cf64_le"},    {"sc16", "ci16_le"},     {"cs16", "ci16_le"},
    {"sc8", "ci8"},       {"cs8", "ci8"},         {"s16", "ri16_le"},      {"f32", "rf32_le"},
    {"int16", "ri16_le"}, {"float32", "rf32_le"}, {"complex64", "cf32_le"}};

[[noreturn]] void refuse_format(std::string_view name)
{
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    for (const auto& [other, ours] : kForeignFormats)
        if (lower == other)
            fail_usage("'" + std::string(name) + "' is not a sample format",
                       "did you mean " + std::string(ours) + "?");
    fail_usage("'" + std::string(name) + "' is not a sample format",
               "SigMF's names (ci16_le, cf32_le, ri16_le, cu8 …) or scan types "
               "(le:s12/16>>4,le:s12/16>>4)");
}

Format of_scan_types(std::string_view list)
{
    Format format;
    for (const std::string& part : detail::split(list)) {
        const auto type = parse_scan_type(part);
        if (!type)
            refuse_format(list);
        const auto number = static_cast<unsigned>(format.channels.size());
        format.channels.push_back({"channel" + std::to_string(number), *type, number});
    }
    return format;
}

Format of_datatype(const ScanType& type, bool complex, std::size_t count)
{
    Format format;
    for (unsigned n = 0; n < count; ++n) {
        if (!complex) {
            format.channels.push_back({"voltage" + std::to_string(n), type, n});
            continue;
        }
        const bool q = n % 2 != 0;
        format.channels.push_back({"voltage" + std::to_string(n / 2) + (q ? "_q" : "_i"), type, n,
                                   q ? Component::quadrature : Component::in_phase});
    }
    return format;
}

} // namespace

std::string ScanType::text() const
{
    std::string text = big_endian ? "be:" : "le:";
    text += number == Number::floating ? 'f' : number == Number::signed_integer ? 's' : 'u';
    text += std::to_string(bits) + "/" + std::to_string(storage_bits);
    if (repeat > 1)
        text += "X" + std::to_string(repeat);
    return text + ">>" + std::to_string(shift);
}

ScanType ScanType::parse(std::string_view text)
{
    const auto type = parse_scan_type(text);
    if (!type)
        fail_usage("'" + std::string(text) + "' is not a scan type", "such as le:s12/16>>4");
    return *type;
}

void Format::lay_out()
{
    std::size_t end = 0;
    std::size_t largest = 1;
    for (Channel& channel : channels) {
        const std::size_t bytes = channel.type.bytes();
        channel.offset = (end + bytes - 1) / bytes * bytes;
        end = channel.offset + bytes;
        largest = std::max(largest, bytes);
    }
    sample_bytes = (end + largest - 1) / largest * largest;
}

bool Format::is_complex() const noexcept
{
    if (channels.empty() || channels.size() % 2 != 0)
        return false;
    for (std::size_t i = 0; i < channels.size(); ++i)
        if (channels[i].component != (i % 2 == 0 ? Component::in_phase : Component::quadrature) ||
            channels[i].type != channels[0].type)
            return false;
    return true;
}

std::string Format::name() const
{
    if (channels.empty())
        return "";
    const bool same = std::all_of(channels.begin(), channels.end(),
                                  [&](const Channel& c) { return c.type == channels[0].type; });
    if (const auto sigmf = sigmf_name(channels[0].type); same && sigmf)
        return (is_complex() ? "c" : "r") + *sigmf;
    std::string list;
    for (const Channel& channel : channels)
        list += (list.empty() ? "" : ",") + channel.type.text();
    return list;
}

Format Format::parse(std::string_view name, std::string_view channels)
{
    const bool complex = name.starts_with('c');
    const bool is_number = channels.find_first_not_of("0123456789") == std::string_view::npos;
    const std::vector<std::string> names =
        is_number ? std::vector<std::string>{} : detail::split(channels);
    std::size_t count = names.size();
    if (channels.empty())
        count = complex ? 2 : 1;
    else if (is_number)
        count = parse_memory_size("channels", channels);
    if (count < 1 || count > kMaxChannels)
        fail_usage(std::string(channels) + " channels: must be 1 to 64");

    Format format;
    const auto type = parse_sigmf(name.substr(name.empty() ? 0 : 1));
    if (type && (complex || name.starts_with('r'))) {
        if (complex && count % 2 != 0)
            fail_usage(std::string(name) + " needs pairs of channels, not " + std::to_string(count),
                       "real formats begin with r: ri16_le");
        format = of_datatype(*type, complex, count);
    } else if (name.find(':') != std::string_view::npos) {
        format = of_scan_types(name);
        if (format.channels.size() > kMaxChannels)
            fail_usage(std::to_string(format.channels.size()) + " scan types: must be 1 to 64");
        if (!channels.empty() && count != format.channels.size())
            fail_usage(std::to_string(count) + " channels, but " +
                       std::to_string(format.channels.size()) + " scan types");
    } else {
        refuse_format(name);
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        format.channels[i].id = names[i];
    format.lay_out();
    return format;
}

} // namespace iio_stream
