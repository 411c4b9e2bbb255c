// SPDX-License-Identifier: MIT
#include "conformance/sample_statistics.hpp"

#include "core/base/text.hpp"
#include "core/format/stored_value.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace iio_stream::conformance {

namespace {

constexpr std::uint64_t kClippedShare = 2; ///< clipped: more than one sample in this many

std::uint64_t mask_of(const ScanType& type)
{
    return type.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1;
}

std::int64_t signed_value(const ScanType& type, std::uint64_t raw)
{
    if (type.number != ScanType::Number::signed_integer || type.bits >= 64)
        return static_cast<std::int64_t>(raw);
    const unsigned unused = 64 - type.bits;
    return static_cast<std::int64_t>(raw << unused) >> unused;
}

ChannelStatistics channel_statistics(const Format& format, const Channel& channel,
                                     std::span<const std::byte> samples)
{
    ChannelStatistics result;
    result.id = channel.id;
    const std::uint64_t mask = mask_of(channel.type);
    const bool has_sign = channel.type.number == ScanType::Number::signed_integer;
    const std::uint64_t top = has_sign ? mask >> 1 : mask, bottom = has_sign ? (mask >> 1) + 1 : 0;
    std::uint64_t first = 0, second = 0, zeros = 0, count = 0;
    bool two = false, more = false;
    for (std::size_t at = 0; at + format.sample_bytes <= samples.size();
         at += format.sample_bytes, ++count) {
        const std::uint64_t raw =
            (detail::load_storage(channel.type, samples.data() + at + channel.offset) >>
             channel.type.shift) &
            mask;
        const std::int64_t value = signed_value(channel.type, raw);
        if (count == 0) {
            first = raw;
            result.least = result.most = value;
        }
        if (raw != first && !two) {
            second = raw;
            two = true;
        }
        more = more || (raw != first && raw != second);
        result.least = std::min(result.least, value);
        result.most = std::max(result.most, value);
        result.ones |= raw;
        zeros |= ~raw & mask;
        result.at_most += raw == top;
        result.at_least += raw == bottom;
    }
    result.changing = result.ones & zeros;
    result.two_valued = !more;
    return result;
}

std::string hex_text(std::uint64_t value)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string fault_of(const ChannelStatistics& channel, const ScanType& type, std::uint64_t count)
{
    if (channel.changing == 0)
        return channel.id + " is constant: every sample is " + hex_text(channel.ones);
    if (channel.two_valued)
        return channel.id + " has only the values " + std::to_string(channel.least) + " and " +
               std::to_string(channel.most) + ": the converter might be in a test mode";
    const unsigned lowest = static_cast<unsigned>(std::countr_zero(channel.changing));
    const unsigned highest = 63 - static_cast<unsigned>(std::countl_zero(channel.changing));
    for (unsigned bit = lowest; bit < highest; ++bit)
        if ((channel.changing >> bit & 1) == 0)
            return "bit " + std::to_string(bit) + " of " + channel.id + " is always " +
                   std::to_string(channel.ones >> bit & 1) +
                   ", while bits below and above it change";
    if (type.number != ScanType::Number::floating &&
        (channel.at_most + channel.at_least) * kClippedShare > count)
        return channel.id + " clips: " + std::to_string(channel.at_most + channel.at_least) +
               " of " + std::to_string(count) + " samples are at an end of the scale";
    return "";
}

// The number of the first block whose samples equal those of the previous block; 0 if there is
// none.
std::size_t repeated_block(std::span<const std::byte> samples, std::size_t block_bytes)
{
    for (std::size_t block = 1; (block + 1) * block_bytes <= samples.size(); ++block)
        if (std::memcmp(samples.data() + (block - 1) * block_bytes,
                        samples.data() + block * block_bytes, block_bytes) == 0)
            return block;
    return 0;
}

} // namespace

Statistics statistics_of(const Format& format, std::span<const std::byte> samples,
                         std::size_t block_bytes)
{
    Statistics result;
    const std::uint64_t count = samples.size() / format.sample_bytes;
    for (const Channel& channel : format.channels) {
        if (channel.component == Component::counter || channel.id == "timestamp")
            continue;
        const ChannelStatistics statistics = channel_statistics(format, channel, samples);
        detail::add_item(result.text, channel.id + " " + std::to_string(statistics.least) + " to " +
                                          std::to_string(statistics.most));
        if (const std::string fault = fault_of(statistics, channel.type, count); !fault.empty())
            detail::add_clause(result.wrong, fault);
        result.channels.push_back(statistics);
    }
    if (result.wrong.empty())
        if (const std::size_t block = repeated_block(samples, block_bytes); block != 0)
            result.wrong =
                "block " + std::to_string(block) + " has the same samples as the one before it";
    return result;
}

} // namespace iio_stream::conformance
