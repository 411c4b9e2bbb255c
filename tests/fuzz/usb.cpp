// SPDX-License-Identifier: MIT
// Data from the cable, message by message.
#include "fuzz/usb.hpp"

#include "core/base/text.hpp"
#include "framing/bytes.hpp"
#include "framing/crc32c.hpp"
#include "framing/info.hpp"
#include "framing/sequence_tracker.hpp"
#include "iio_stream/error.hpp"
#include "tcp/message.hpp"
#include "usb/attribute_allowlist.hpp"
#include "usb/host/event_receiver.hpp"

#include <array>
#include <cmath>

namespace iio_stream::fuzz {

namespace {

bool is_printable(const std::string& text)
{
    return detail::printable(text) == text;
}

/// Decodes a header after its checksum was corrected, because a fuzzer cannot guess a checksum.
/// Everything else can be invalid.
std::optional<framing::Header> decode_forged(std::span<const std::byte> bytes)
{
    std::array<std::byte, framing::kHeaderBytes> forged{};
    std::copy_n(bytes.begin(), std::min(bytes.size(), forged.size()), forged.begin());
    framing::Header{}.encode(forged);
    if (bytes.size() > 8)
        std::copy_n(bytes.begin() + 8, std::min(bytes.size(), std::size_t{96}) - 8,
                    forged.begin() + 8);
    framing::put_number(forged.data() + 96, framing::crc32c(std::span(forged).first(96)), 4);
    return framing::Header::decode(forged);
}

void check_shape(const framing::StreamShape& shape)
{
    holds(shape.wire_bytes >= shape.format.sample_bytes, "a block has room for a sample");
    holds(shape.wire_bytes <= std::size_t{1} << 30, "a block fits into memory");
    holds(shape.format.sample_rate >= 0 && std::isfinite(shape.format.sample_rate),
          "a rate is finite and not negative");
    holds(is_printable(shape.source), "the name of a source is printable");
    holds(is_printable(shape.tuning.antenna) && is_printable(shape.tuning.hardware),
          "the strings of a radio are printable");
    for (const Channel& channel : shape.format.channels)
        holds(is_printable(channel.id), "the name of a channel is printable");
    for (const std::string& attribute : shape.attributes)
        holds(is_printable(attribute), "the name of an attribute is printable");
}

void check_header(std::span<const std::byte> input)
{
    (void)framing::Header::decode(input);
    const auto header = decode_forged(input);
    if (!header)
        return;
    std::array<std::byte, framing::kHeaderBytes> bytes;
    header->encode(bytes);
    const auto again = framing::Header::decode(bytes);
    holds(again.has_value(), "a decoded header can be encoded");
    holds(again->sample_index == header->sample_index && again->sequence == header->sequence &&
              again->time_ns == header->time_ns && again->flags == header->flags &&
              again->valid_bytes == header->valid_bytes && again->checksum == header->checksum &&
              again->loss.has_value() == header->loss.has_value(),
          "an encoded header decodes to the same values");
    holds(header->sample_index <= framing::kLastIndex, "an index leaves room for later samples");
    const auto behind = framing::seen_from_behind(header->loss, header->valid_bytes);
    holds(!behind || behind->offset_min <= behind->offset_max, "a loss begins before it ends");
}

void check_arrivals(std::span<const std::byte> input)
{
    constexpr std::size_t kSample = 4;
    framing::SequenceTracker sequence_tracker;
    sequence_tracker.reset(kSample);
    Pieces pieces(input);
    std::uint64_t samples = 0, last = 0;
    while (!pieces.empty()) {
        const std::uint64_t kind = pieces.number(1);
        if (kind % 8 == 0)
            sequence_tracker.broken_off(pieces.number(1));
        if (kind % 8 == 1)
            sequence_tracker.expect(pieces.number(2));
        const auto header = decode_forged(pieces.piece(96));
        if (!header || header->valid_bytes % kSample != 0)
            continue;
        if (kind % 8 == 2) {
            sequence_tracker.damaged(*header);
            continue;
        }
        if (!sequence_tracker.account(*header))
            continue;
        if ((header->flags & framing::Header::end) != 0)
            break;
        const BlockInfo block = sequence_tracker.next(*header, {}, false);
        holds(block.position == samples, "blocks follow each other");
        holds(block.sample_index >= last, "an index never goes back");
        holds(block.sample_index < std::uint64_t{1} << 63, "an index never wraps");
        samples += header->valid_bytes / kSample;
        last = block.sample_index + header->valid_bytes / kSample;
        for (std::size_t i = 0; i < block.gap_count; ++i) {
            const Gap& gap = block.gaps[i];
            holds(gap.offset_min <= gap.offset_max, "a gap begins before it ends");
            holds(gap.offset_min <= samples, "a gap begins among the samples that arrived");
            holds(gap.lost_min <= gap.lost_max, "lost_min is not above lost_max");
        }
    }
    for (const Gap& gap : sequence_tracker.left())
        holds(gap.lost_min <= gap.lost_max, "lost_min is not above lost_max at the end");
}

void check_info(std::span<const std::byte> input)
{
    unless_refused<Error>([&] {
        const framing::PeerInfo info = framing::parse_info(std::string(text_of(input)), "input");
        holds(is_printable(info.version), "a version is printable");
        for (const auto* shape : {&info.to_host, &info.to_board})
            if (*shape)
                check_shape(**shape);
        const framing::PeerInfo again = framing::parse_info(framing::info_json(info, {}), "again");
        holds(again.to_host.has_value() == info.to_host.has_value(),
              "an info parses back to itself");
        if (info.to_host)
            framing::check_same_shape(*again.to_host, *info.to_host, "board");
    });
}

void check_event(std::span<const std::byte> input)
{
    const auto news = usb::parse_board_event(text_of(input));
    holds(!news || (is_printable(news->event) && is_printable(news->text)),
          "an event is printable");
}

void check_attribute(std::span<const std::byte> input)
{
    const std::string text(text_of(input));
    unless_refused<Error>([&] { (void)usb::AttributeAllowlist::parse(text); });
    try {
        const std::string value = usb::value_of(text, "gain");
        holds(detail::printable(value, detail::Lines::many) == value, "a value is printable");
    } catch (const Error& error) {
        holds(is_printable(error.what()), "an error is printable");
        holds(is_printable(error.hint()), "a hint is printable");
    }
}

// Messages of another iio-stream over TCP.
void check_tcp(std::span<const std::byte> input)
{
    unless_refused<Error>(
        [&] { (void)tcp::StreamRequest::parse(std::string(text_of(input)), "input"); });
    tcp::MessageReader reader;
    try {
        while (!input.empty()) {
            const auto room = reader.room();
            const std::size_t now = std::min(room.size(), input.size());
            std::copy_n(input.begin(), now, room.begin());
            input = input.subspan(now);
            if (reader.add(now))
                return;
        }
    } catch (const Error& error) {
        holds(is_printable(error.what()), "the text of a foreign peer is printable");
    }
}

} // namespace

void usb_header(std::span<const std::byte> input)
{
    check_header(input);
    check_arrivals(input);
}

void usb_text(std::span<const std::byte> input)
{
    check_info(input);
    check_event(input);
    check_attribute(input);
    check_tcp(input);
}

} // namespace iio_stream::fuzz
