// SPDX-License-Identifier: MIT
// Conversions of samples between any two formats, compared with the definition of their values.
#include "fuzz/samples.hpp"

#include "core/format/convert_values.hpp"
#include "iio_stream/format.hpp"
#include "support/values.hpp"

#include <vector>

namespace iio_stream::fuzz {

namespace {

constexpr std::byte kUntouched{0xa5};

ScanType any_type(Pieces& pieces)
{
    ScanType type;
    const std::uint64_t kind = pieces.number(1);
    type.number = static_cast<ScanType::Number>(kind % 3);
    type.big_endian = (kind & 0x80) != 0;
    const bool floating = type.number == ScanType::Number::floating;
    type.storage_bits = 8U << (floating ? 2 + (kind >> 5 & 1) : kind >> 5 & 3);
    type.bits = type.storage_bits;
    const auto significant = static_cast<unsigned>(pieces.number(1));
    if (floating || significant == 0) // 0: all bits
        return type;
    type.bits = 1 + significant % type.storage_bits;
    type.shift = static_cast<unsigned>(pieces.number(1)) % (type.storage_bits - type.bits + 1);
    return type;
}

// Makes a format of `count` channels. They are a part of a larger sample if `others` says so.
Format any_format(Pieces& pieces, std::size_t count, bool same, std::uint64_t others)
{
    Format format;
    const ScanType first = any_type(pieces);
    std::vector<std::size_t> chosen;
    while (chosen.size() < count) {
        Channel channel;
        channel.type = same || format.channels.empty() ? first : any_type(pieces);
        format.channels.push_back(channel);
        if ((others & 1) == 0)
            chosen.push_back(format.channels.size() - 1);
        others >>= 1;
    }
    format.lay_out();
    Format part = format;
    part.channels.clear();
    for (const std::size_t at : chosen)
        part.channels.push_back(format.channels[at]);
    return part;
}

// A buffer that begins at an odd address and ends with bytes that must not be written.
struct Buffer {
    explicit Buffer(std::size_t size) : bytes(1 + size + 16, kUntouched) {}
    std::span<std::byte> data() { return std::span(bytes).subspan(1, bytes.size() - 17); }
    std::vector<std::byte> bytes;
};

void check_values(const Converter& converter, std::span<const std::byte> in, Buffer& out)
{
    const Format &from = converter.from(), &to = converter.to();
    for (std::size_t n = 0; n < in.size() / from.sample_bytes; ++n)
        for (std::size_t i = 0; i < from.channels.size(); ++i) {
            const Channel &a = from.channels[i], &b = to.channels[i];
            std::byte* const made = &out.bytes[1 + n * to.sample_bytes + b.offset];
            const std::byte* const given = &in[n * from.sample_bytes + a.offset];
            if (a.type == b.type)
                holds(std::equal(given, given + a.type.bytes(), made), "a value is copied");
            else
                holds(test::is_converted(a.type, given, b.type, made), "a value is converted");
            std::fill(made, made + b.type.bytes(), kUntouched);
        }
    holds(std::all_of(out.bytes.begin(), out.bytes.end(),
                      [](std::byte b) { return b == kUntouched; }),
          "no other byte is written");
}

// Deinterleaves samples into packed values of one type, and interleaves these again.
void check_buffers(const Format& from, const ScanType& item, std::size_t width,
                   std::span<const std::byte> in)
{
    Format packed = from;
    for (Channel& channel : packed.channels)
        channel.type = item;
    packed.lay_out();
    const std::size_t samples = in.size() / from.sample_bytes, bytes = width * item.bytes();
    Buffer whole(samples * packed.sample_bytes);
    const Converter apart(from, packed), together(packed, from);
    apart.convert(in, whole.data());
    std::vector<Buffer> buffers(from.channels.size() / width, Buffer(samples * bytes));
    std::vector<std::byte*> to;
    for (Buffer& buffer : buffers)
        to.push_back(buffer.data().data());
    apart.deinterleave(in, to);
    for (std::size_t n = 0; n < samples; ++n)
        for (std::size_t i = 0; i < buffers.size(); ++i)
            holds(std::equal(to[i] + n * bytes, to[i] + (n + 1) * bytes,
                             &whole.bytes[1 + n * packed.sample_bytes + i * bytes]),
                  "a buffer gets the values of its channels");
    Buffer expected(in.size()), merged(in.size());
    together.convert(whole.data(), expected.data());
    together.interleave(std::vector<const std::byte*>(to.begin(), to.end()), merged.data());
    holds(merged.bytes == expected.bytes, "buffers become the samples of which they were made");
    for (Buffer& buffer : buffers)
        holds(std::all_of(buffer.bytes.end() - 16, buffer.bytes.end(),
                          [](std::byte b) { return b == kUntouched; }),
              "no byte behind a buffer is written");
}

// Converts the values of the first channel with the loops for all processors.
void check_plain(const Converter& converter, std::span<const std::byte> in)
{
    const Channel &from = converter.from().channels[0], &to = converter.to().channels[0];
    const auto plain = detail::ValueConverter::create(from.type, to.type, false);
    if (!plain)
        return;
    const std::size_t samples = in.size() / converter.from().sample_bytes;
    Format one = converter.to();
    one.channels.resize(1);
    Format other = converter.from();
    other.channels.resize(1);
    Buffer out(samples * one.sample_bytes);
    plain->convert_rows(in.data() + from.offset, {other.sample_bytes, from.type.bytes()},
                        out.data().data() + to.offset, {one.sample_bytes, to.type.bytes()}, 1,
                        samples);
    check_values(Converter(other, one), in, out);
}

} // namespace

void conversion(std::span<const std::byte> input)
{
    Pieces pieces(input);
    const std::size_t count = 1 + pieces.number(1) % 20;
    const std::uint64_t same = pieces.number(1);
    const Format from = any_format(pieces, count, (same & 1) != 0, pieces.number(2));
    const Format to = any_format(pieces, count, (same & 2) != 0, pieces.number(2));
    const std::size_t width = 1 + pieces.number(1) % count;
    const std::span<const std::byte> rest = pieces.piece(input.size());
    std::vector<std::byte> bytes(1 + rest.size() / from.sample_bytes * from.sample_bytes);
    std::copy_n(rest.begin(), bytes.size() - 1, bytes.begin() + 1);
    const std::span<const std::byte> in = std::span(bytes).subspan(1); // at an odd address
    const Converter converter(from, to);
    Buffer out(in.size() / from.sample_bytes * to.sample_bytes);
    converter.convert(in, out.data());
    check_values(converter, in, out);
    check_plain(converter, in);
    if (count % width == 0)
        check_buffers(from, to.channels[0].type, width, in);
}

} // namespace iio_stream::fuzz
