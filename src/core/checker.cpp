// SPDX-License-Identifier: MIT
#include "core/checker.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cstring>

namespace iio_stream::detail {

namespace {

/// The ramp is a stream of bytes: samples may lie anywhere across its 64-bit words.
class RampChecker final : public Checker {
public:
    explicit RampChecker(const Format& format) : Checker(format) {}

private:
    std::size_t matching(std::span<const std::byte> in) const noexcept override;
    bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept override;
};

std::uint64_t word_at(std::span<const std::byte> in, std::size_t offset)
{
    std::uint64_t word;
    std::memcpy(&word, in.data() + offset, 8);
    return word;
}

bool is_ramp(std::span<const std::byte> in, std::uint64_t position)
{
    return std::all_of(in.begin(), in.end(), [&](std::byte b) {
        const bool same = b == static_cast<std::byte>(position / 8 >> position % 8 * 8);
        ++position;
        return same;
    });
}

std::size_t RampChecker::matching(std::span<const std::byte> in) const noexcept
{
    const std::uint64_t position = expected_ * format_.sample_bytes;
    const std::size_t head = std::min<std::size_t>((8 - position % 8) % 8, in.size());
    std::size_t good = 0;
    if (is_ramp(in.first(head), position)) {
        good = head;
        std::uint64_t word = (position + head) / 8;
        // Sixteen words at a time, compared without a branch in between.
        for (; in.size() - good >= 128; good += 128, word += 16) {
            std::uint64_t difference = 0;
            for (std::size_t i = 0; i < 16; ++i)
                difference |= word_at(in, good + 8 * i) ^ (word + i);
            if (difference != 0)
                break;
        }
        while (good < in.size() &&
               in[good] == static_cast<std::byte>((position + good) / 8 >> (position + good) % 8 * 8))
            ++good;
    }
    return good / format_.sample_bytes * format_.sample_bytes;
}

bool RampChecker::locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept
{
    // The sample's phase in the 64-bit words is unknown: the right one makes the whole neighbourhood
    // a ramp, and puts the sample where a sample can be.
    const auto look = in.first(std::min<std::size_t>(in.size(), 64));
    for (std::size_t phase = 0; phase < 8; ++phase) {
        const std::size_t head = (8 - phase) % 8;
        if (head + 8 > look.size())
            continue;
        const std::uint64_t position = word_at(look, head) * 8 - head;
        if (position % format_.sample_bytes == 0 && is_ramp(look, position)) {
            sample = position / format_.sample_bytes;
            return true;
        }
    }
    return false;
}

class LanesChecker final : public Checker {
public:
    explicit LanesChecker(const Format& format);

private:
    std::size_t matching(std::span<const std::byte> in) const noexcept override;
    bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept override;
    bool swapped(std::span<const std::byte> in) const noexcept override;
    bool fits(const Channel& channel, const std::byte* sample, std::uint64_t index) const noexcept;

    unsigned counter_bits_ = 64; ///< of the narrowest channel: the counter is known modulo these
};

LanesChecker::LanesChecker(const Format& format) : Checker(format)
{
    for (const Channel& channel : format_.channels)
        counter_bits_ = std::min(counter_bits_, channel.type.bits - kLaneBits);
}

bool LanesChecker::fits(const Channel& channel, const std::byte* sample,
                        std::uint64_t index) const noexcept
{
    std::byte wanted[64 * 8];
    store_value(channel.type, lane_value(channel, index), wanted);
    return std::memcmp(wanted, sample + channel.offset, channel.type.bytes()) == 0;
}

std::size_t LanesChecker::matching(std::span<const std::byte> in) const noexcept
{
    std::size_t good = 0;
    for (std::uint64_t index = expected_; good < in.size(); ++index, good += format_.sample_bytes)
        for (const Channel& channel : format_.channels)
            if (!fits(channel, in.data() + good, index))
                return good;
    return good;
}

bool LanesChecker::locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept
{
    // The nearest later sample with this counter; a block seen again is one that follows from it.
    const Channel& first = format_.channels.front();
    const std::uint64_t raw = load_storage(first.type, in.data() + first.offset) >> first.type.shift;
    const std::uint64_t mask = (std::uint64_t{1} << counter_bits_) - 1;
    sample = expected_ + ((raw - expected_) & mask);
    return std::all_of(format_.channels.begin(), format_.channels.end(),
                       [&](const Channel& channel) { return fits(channel, in.data(), sample); });
}

bool LanesChecker::swapped(std::span<const std::byte> in) const noexcept
{
    for (const Channel& channel : format_.channels) {
        const bool found =
            std::any_of(format_.channels.begin(), format_.channels.end(), [&](const Channel& other) {
                std::byte wanted[64 * 8];
                store_value(channel.type, lane_value(other, expected_), wanted);
                return std::memcmp(wanted, in.data() + channel.offset, channel.type.bytes()) == 0;
            });
        if (!found)
            return false;
    }
    return true;
}

} // namespace

std::unique_ptr<Checker> Checker::make(Pattern pattern, const Format& format)
{
    (void)Generator(pattern, format, 0, 0); // refuses what the format cannot carry
    if (pattern == Pattern::ramp)
        return std::make_unique<RampChecker>(format);
    if (pattern == Pattern::lanes)
        return std::make_unique<LanesChecker>(format);
    fail_usage("only the patterns ramp and lanes can be verified");
}

void Checker::note(const std::string& what)
{
    if (findings_.first.empty())
        findings_.first = what + " at sample " + std::to_string(findings_.samples);
}

void Checker::jump_to(std::uint64_t sample)
{
    const auto jump = static_cast<std::int64_t>(sample - expected_);
    if (jump > 0) {
        ++findings_.gaps;
        findings_.lost += static_cast<std::uint64_t>(jump);
        note(std::to_string(jump) + " samples missing");
    } else {
        // Back into what an earlier gap had missed: it came late, not twice.
        const bool late = std::any_of(findings_.jumps.begin(), findings_.jumps.end(), [&](const Jump& g) {
            return g.samples > 0 && sample >= g.at && sample < g.at + static_cast<std::uint64_t>(g.samples);
        });
        ++(late ? findings_.reorders : findings_.repeats);
        note(std::to_string(-jump) + (late ? " samples late" : " samples repeated"));
    }
    if (findings_.jumps.size() < Findings::kMaxJumps)
        findings_.jumps.push_back({findings_.samples, expected_, jump});
    expected_ = sample;
}

void Checker::feed(std::span<const std::byte> in)
{
    const std::size_t sample_bytes = format_.sample_bytes;
    while (!in.empty()) {
        const std::size_t good = matching(in);
        findings_.samples += good / sample_bytes;
        expected_ += good / sample_bytes;
        in = in.subspan(good);
        if (in.empty())
            break;
        std::uint64_t sample = 0;
        if (locate(in, sample)) {
            jump_to(sample);
            continue;
        }
        const bool swap = swapped(in);
        note(swap ? "channels swapped" : "wrong data");
        ++(swap ? findings_.swaps : findings_.mismatches);
        ++findings_.samples;
        ++expected_;
        in = in.subspan(sample_bytes);
    }
}

} // namespace iio_stream::detail
