// SPDX-License-Identifier: MIT
#include "file/sigmf/datatype.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <climits>
#include <optional>

namespace iio_stream::file {

namespace {

using Number = ScanType::Number;

// Why a SigMF file cannot hold values of this type; "" if it can.
std::string obstacle(const ScanType& type)
{
    if (type.shift != 0)
        return "its values are shifted " + std::to_string(type.shift) + " bits to the left";
    if (type.number != Number::floating && type.storage_bits == 64)
        return "there are no 64-bit integers";
    return "";
}

std::optional<std::string> obstacle(const Format& format)
{
    const ScanType& first = format.channels[0].type;
    std::size_t bytes = 0;
    for (const Channel& channel : format.channels) {
        const ScanType& type = channel.type;
        if (const std::string why = obstacle(type); !why.empty())
            return channel.id + " is " + type.text() + ": " + why;
        if (type.number != first.number || type.storage_bits != first.storage_bits ||
            type.big_endian != first.big_endian)
            return format.channels[0].id + " is " + first.text() + ", but " + channel.id + " is " +
                   type.text();
        bytes += type.bytes();
    }
    if (bytes != format.sample_bytes)
        return "there are unused bytes between the values";
    return std::nullopt;
}

// The same words in memory, without the properties that SigMF's datatype does not express.
ScanType as_words(const ScanType& type)
{
    ScanType words = type;
    words.bits = words.storage_bits;
    words.repeat = 1;
    return words;
}

} // namespace

Datatype datatype_of(const Format& format, const std::string& path)
{
    if (const auto why = obstacle(format)) {
        const bool floating = format.channels[0].type.storage_bits > 16;
        const std::string kind = format.is_complex() ? "c" : "r";
        fail_usage(path + ": SigMF has no datatype for these samples: " + *why,
                   "convert=" + kind + (floating ? "f32_le" : "i16_le") +
                       " converts them; a raw name (.bin) takes them as they are");
    }
    Format words;
    std::size_t values = 0;
    for (const Channel& channel : format.channels)
        values += channel.type.repeat;
    const bool complex = format.is_complex() && values == format.channels.size();
    words.channels = {format.channels[0]};
    words.channels[0].type = as_words(format.channels[0].type);
    std::string name = words.name(); // "r…": one channel is not a pair
    if (complex)
        name[0] = 'c';
    return {name, complex ? values / 2 : values};
}

Conversion conversion_to_datatype(const Format& format)
{
    const auto why = obstacle(format);
    unsigned integer_bits = 0, float_bits = 0;
    for (const Channel& channel : format.channels) {
        const ScanType& type = channel.type;
        if (!why || type.repeat != 1)
            return {};
        unsigned& bits = type.number == Number::floating ? float_bits : integer_bits;
        bits = std::max(bits, type.bits);
    }
    constexpr unsigned kFloatInteger = 24; // bits of an integer that a 32-bit float holds
    std::string word = integer_bits <= 8 ? "i8" : integer_bits <= 16 ? "i16_le" : "i32_le";
    if (float_bits > 32 || integer_bits > 32 || (float_bits != 0 && integer_bits > kFloatInteger))
        word = "f64_le";
    else if (float_bits != 0)
        word = "f32_le";
    return {(format.is_complex() ? "c" : "r") + word,
            "SigMF has no datatype for these samples: " + *why};
}

bool is_datatype(const std::string& name)
{
    // Format::parse() accepts no other names without a colon:
    // (r|c)(f32|f64|i32|i16|u32|u16)(_le|_be), (r|c)(i8|u8).
    if (name.find(':') != std::string::npos)
        return false;
    try {
        return Format::parse(name).name() == name;
    } catch (const Error&) {
        return false;
    }
}

Json channels_json(const Format& format)
{
    Json list = Json::array();
    for (const Channel& channel : format.channels) {
        Json one{{"id", channel.id},
                 {"scan_type", channel.type.text()},
                 {"scan_index", channel.scan_index}};
        if (channel.component == Component::counter)
            one["counter"] = true;
        list.push_back(one);
    }
    return list;
}

Format format_of(const Datatype& datatype, const Json& channels)
{
    const bool complex = datatype.name.starts_with('c');
    const std::uint64_t values = datatype.channels * (complex ? 2 : 1);
    Format format = Format::parse(datatype.name, std::to_string(values));
    if (!channels.is_array())
        return format;
    // iio_stream:channels states the meaning of the words. It must not contradict their layout.
    Format own;
    for (const Json& one : channels) {
        Channel channel;
        channel.id = detail::printable(one.at("id").get<std::string>());
        channel.type = ScanType::parse(one.at("scan_type").get<std::string>());
        const auto index = count_in(one.at("scan_index"));
        if (!index || *index > UINT_MAX)
            fail_usage("iio_stream:channels: scan_index is " + one.at("scan_index").dump() +
                       ", which is not a scan index");
        channel.scan_index = static_cast<unsigned>(*index);
        const std::size_t n = own.channels.size();
        if (complex && n < values)
            channel.component = format.channels[n].component;
        if (one.contains("counter"))
            channel.component = Component::counter;
        own.channels.push_back(channel);
    }
    own.lay_out();
    const Datatype again =
        own.channels.empty() ? Datatype{} : datatype_of(own, "iio_stream:channels");
    if (again.name != datatype.name || again.channels != datatype.channels)
        fail_usage("iio_stream:channels do not match core:num_channels = " +
                   std::to_string(datatype.channels) + " of " + datatype.name);
    return own;
}

} // namespace iio_stream::file
