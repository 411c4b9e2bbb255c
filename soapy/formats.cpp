// SPDX-License-Identifier: MIT
#include "formats.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace iio_stream::soapy {

namespace {

using Number = ScanType::Number;

bool is_pair(const std::vector<Channel>& channel)
{
    return channel.size() == 2;
}

// Returns SoapySDR's letter for the values, or 0 if there is none.
char letter_of(const ScanType& type)
{
    const unsigned bits = type.storage_bits;
    if (type.repeat != 1)
        return 0;
    if (type.number == Number::floating)
        return bits == 32 || bits == 64 ? 'F' : '\0';
    if (bits != 8 && bits != 16 && bits != 32)
        return 0;
    return type.number == Number::signed_integer ? 'S' : 'U';
}

// Returns the type of the values of a SoapySDR format, such as "CS16".
ScanType type_of(const std::string& format)
{
    const std::string name = format.starts_with('C') ? format.substr(1) : format;
    ScanType type;
    type.number = name[0] == 'F'   ? Number::floating
                  : name[0] == 'U' ? Number::unsigned_integer
                                   : Number::signed_integer;
    type.bits = type.storage_bits = static_cast<unsigned>(std::stoul(name.substr(1)));
    return type;
}

// Returns the type of the whole words in which values are stored. With it, they are copied
// unchanged.
ScanType whole_word(ScanType type)
{
    if (type.number != Number::floating) {
        type.bits = type.storage_bits;
        type.shift = 0;
    }
    return type;
}

// Returns the format of a channel within the samples of the blocks.
Format in_block(std::vector<Channel> channel, std::size_t sample_bytes, bool as_words)
{
    Format format;
    if (as_words)
        for (Channel& value : channel)
            value.type = whole_word(value.type);
    format.channels = std::move(channel);
    format.sample_bytes = sample_bytes;
    return format;
}

// Returns the format of the elements in a program's buffer.
Format in_buffer(const std::vector<Channel>& channel, const std::string& name, std::size_t bytes)
{
    Format format;
    format.channels = channel;
    for (Channel& value : format.channels)
        value.type = type_of(name);
    format.lay_out();
    format.sample_bytes = bytes;
    return format;
}

} // namespace

NativeFormat native_format(const std::vector<Channel>& channel)
{
    const ScanType& type = channel[0].type;
    const std::string prefix = is_pair(channel) ? "C" : "";
    const char letter = letter_of(type);
    const bool same = std::all_of(channel.begin(), channel.end(),
                                  [&](const Channel& c) { return c.type == type; });
    if (letter == 0 || !same)
        return {prefix + "F32", 1, false};
    const std::string name = prefix + letter + std::to_string(type.storage_bits);
    if (letter == 'F')
        return {name, 1, !type.big_endian};
    return {name, std::ldexp(1.0, static_cast<int>(type.bits + type.shift) - 1), !type.big_endian};
}

std::vector<std::string> stream_formats(const std::vector<Channel>& channel)
{
    const bool pair = is_pair(channel);
    std::vector<std::string> formats{native_format(channel).name};
    std::vector<std::string> others = pair ? std::vector<std::string>{"CF32", "CS16", "CS8"}
                                           : std::vector<std::string>{"F32", "S16", "S8", "CF32"};
    std::erase(others, formats[0]);
    formats.insert(formats.end(), others.begin(), others.end());
    return formats;
}

std::size_t element_bytes(const std::string& format, const std::vector<Channel>& channel)
{
    const std::vector<std::string> known = stream_formats(channel);
    if (std::find(known.begin(), known.end(), format) == known.end())
        fail_usage("stream format '" + format + "'", suggest(format, known));
    return type_of(format).bytes() * (format.starts_with('C') ? 2 : 1);
}

ChannelConverter::ChannelConverter(Way way, const std::vector<Channel>& channel,
                                   std::size_t sample_bytes, const std::string& format)
    : bytes_(soapy::element_bytes(format, channel)),
      real_as_complex_(!is_pair(channel) && format.starts_with('C')),
      converter_([&] {
          const bool native =
              format == native_format(channel).name && letter_of(channel[0].type) != 0;
          const Format block = in_block(channel, sample_bytes, native);
          const Format buffer = in_buffer(channel, format, bytes_);
          return way == Way::receive ? Converter(block, buffer) : Converter(buffer, block);
      }())
{}

void ChannelConverter::receive(std::span<const std::byte> block, void* out,
                               std::size_t count) const noexcept
{
    if (real_as_complex_)
        std::memset(out, 0, count * bytes_);
    converter_.convert(block.first(count * converter_.from().sample_bytes),
                       {static_cast<std::byte*>(out), count * bytes_});
}

void ChannelConverter::transmit(const void* in, std::span<std::byte> block,
                                std::size_t count) const noexcept
{
    converter_.convert({static_cast<const std::byte*>(in), count * bytes_},
                       block.first(count * converter_.to().sample_bytes));
}

} // namespace iio_stream::soapy
