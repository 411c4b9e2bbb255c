// SPDX-License-Identifier: MIT
// Text from users and sysfs: URIs, options, sizes, times, scan types.
#include "fuzz/text.hpp"

#include "core/base/text.hpp"
#include "core/options/registry.hpp"
#include "iio/context/attributes.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/units.hpp"

#include <cmath>

namespace iio_stream::fuzz {

namespace {

void check_attribute_value(const std::string& text)
{
    if (const auto number = iio::number_in_value(text))
        holds(std::isfinite(*number), "the number of an attribute is finite");
    for (const std::string& value : iio::listed_values(text))
        holds(!value.empty(), "a listed value has characters");
}

} // namespace

void uri(std::span<const std::byte> input)
{
    unless_refused<Error>([&] {
        const Uri uri = Uri::parse(text_of(input));
        const Uri again = Uri::parse(uri.text());
        holds(again.scheme == uri.scheme, "a scheme parses back to itself");
        holds(again.rest == uri.rest, "the rest of a URI parses back to itself");
        holds(again.options.values() == uri.options.values(), "options parse back to themselves");
    });
}

// Creates only endpoints whose creation touches nothing outside this process.
void endpoint(std::span<const std::byte> input)
{
    unless_refused<Error>([&] {
        Uri source = Uri::parse(text_of(input));
        Uri sink = source;
        if (source.scheme == "sim" || source.scheme == "ffs") {
            const auto made = detail::make_source(source);
            holds(made->format().sample_bytes != 0, "the samples of a source have a size");
            holds(made->format().sample_rate >= 0, "the rate of a source is not negative");
        }
        if (sink.scheme == "null" || sink.scheme == "verify" || sink.scheme == "ffs")
            (void)detail::make_sink(sink);
    });
}

void scan_type(std::span<const std::byte> input)
{
    const std::string_view text = text_of(input);
    unless_refused<Error>([&] {
        const ScanType type = ScanType::parse(text);
        holds(ScanType::parse(type.text()) == type, "a scan type parses back to itself");
        holds(type.bytes() >= 1 && type.bytes() <= 512, "a value has a size");
        holds(type.shift + type.bits <= type.storage_bits, "its bits are in its storage");
    });
    unless_refused<Error>([&] {
        const std::size_t bar = std::min(text.find('|'), text.size());
        const Format format =
            Format::parse(text.substr(0, bar), text.substr(std::min(bar + 1, text.size())));
        std::size_t end = 0;
        for (const Channel& channel : format.channels) {
            holds(channel.offset >= end, "channels do not overlap");
            end = channel.offset + channel.type.bytes();
        }
        holds(!format.channels.empty() && end <= format.sample_bytes, "channels are in the sample");
        const Format again = Format::parse(format.name(), std::to_string(format.channels.size()));
        holds(again.sample_bytes == format.sample_bytes, "a format parses back from its name");
    });
}

void units(std::span<const std::byte> input)
{
    const std::string_view text = text_of(input);
    unless_refused<Error>([&] {
        const std::uint64_t size = parse_size("x", text);
        holds(size <= std::uint64_t{1} << 63, "sums of two sizes fit");
        holds(parse_size("x", format_size(size)) == size, "a size parses back to itself");
    });
    unless_refused<Error>([&] {
        const double rate = parse_rate("x", text);
        holds(std::isfinite(rate) && rate >= 0, "a rate is finite and not negative");
    });
    unless_refused<Error>(
        [&] { holds(parse_duration("x", text).count() >= 0, "a time is not negative"); });
    unless_refused<Error>(
        [&] { holds(std::isfinite(parse_number("x", text)), "a number is finite"); });
    unless_refused<Error>([&] { (void)parse_switch("x", text); });
    check_attribute_value(std::string(text));
    (void)parse_usb_id(text);
    holds(suggest(text.substr(0, 100), {"frequency", "gain"}).size() < 100, "a hint is short");
}

} // namespace iio_stream::fuzz
