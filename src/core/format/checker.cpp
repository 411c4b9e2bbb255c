// SPDX-License-Identifier: MIT
#include "core/format/checker.hpp"

#include "core/format/stored_value.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace iio_stream::detail {

namespace {

/// The ramp is a stream of bytes: a sample can start anywhere in its 64-bit words and cross their
/// boundaries.
class RampChecker final : public Checker {
public:
    RampChecker(const Generator& generator, const Format& format) : Checker(generator, format) {}

private:
    // 24 bytes hold two whole words at any phase. With the bytes around them, they occur only once
    // in the ramp.
    std::size_t window() const noexcept override { return 24; }
    std::size_t matching(std::span<const std::byte> in) const noexcept override;
    bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept override;
};

std::uint64_t word_at(std::span<const std::byte> in, std::size_t offset)
{
    std::uint64_t word;
    std::memcpy(&word, in.data() + offset, 8);
    return word;
}

std::byte ramp_byte(std::uint64_t position)
{
    return static_cast<std::byte>(position / 8 >> position % 8 * 8);
}

// The number of bytes of `in` that continue the ramp from `position`.
std::size_t ramp_bytes(std::span<const std::byte> in, std::uint64_t position)
{
    std::size_t good = 0;
    while (good < in.size() && in[good] == ramp_byte(position + good))
        ++good;
    return good;
}

std::size_t RampChecker::matching(std::span<const std::byte> in) const noexcept
{
    const std::uint64_t position = expected_ * format_.sample_bytes;
    const std::size_t head = std::min<std::size_t>((8 - position % 8) % 8, in.size());
    std::size_t good = ramp_bytes(in.first(head), position);
    if (good == head) {
        std::uint64_t word = (position + head) / 8;
        // Compares sixteen words at a time, without a branch in between.
        for (; in.size() - good >= 128; good += 128, word += 16) {
            std::uint64_t difference = 0;
            for (std::size_t i = 0; i < 16; ++i)
                difference |= word_at(in, good + 8 * i) ^ (word + i);
            if (difference != 0)
                break;
        }
        good += ramp_bytes(in.subspan(good), position + good);
    }
    return good / format_.sample_bytes * format_.sample_bytes;
}

bool RampChecker::locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept
{
    // The sample's phase in the 64-bit words is unknown. With the right phase, the whole window is
    // a ramp, and its position is one at which a sample can start.
    const auto look = in.first(std::min(in.size(), window()));
    for (std::size_t phase = 0; phase < 8; ++phase) {
        const std::size_t head = (8 - phase) % 8;
        if (head + 8 > look.size())
            continue;
        const std::uint64_t position = word_at(look, head) * 8 - head;
        if (position % format_.sample_bytes == 0 && ramp_bytes(look, position) == look.size()) {
            sample = position / format_.sample_bytes;
            return true;
        }
    }
    return false;
}

constexpr std::size_t kMostWords = 64; // of a sample that is checked word by word

template <typename Word>
Word reversed(Word word)
{
    if constexpr (sizeof(Word) == 1)
        return word;
    else if constexpr (sizeof(Word) == 2)
        return static_cast<Word>(__builtin_bswap16(word));
    else if constexpr (sizeof(Word) == 4)
        return __builtin_bswap32(word);
    else
        return __builtin_bswap64(word);
}

class LanesChecker final : public Checker {
public:
    LanesChecker(const Generator& generator, const Format& format);
    std::uint64_t period() const noexcept override
    {
        const unsigned bits = lane_counter_bits(*widest_);
        return bits < 64 ? std::uint64_t{1} << bits : kUnknown;
    }

private:
    std::size_t window() const noexcept override { return format_.sample_bytes; }
    std::size_t matching(std::span<const std::byte> in) const noexcept override;
    bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept override;
    bool swapped(std::span<const std::byte> in) const noexcept override;
    bool fits(const Channel& channel, const std::byte* sample, std::uint64_t index) const noexcept;
    template <typename Word, bool kSwap>
    std::size_t matching_words(std::span<const std::byte> in) const noexcept;
    template <typename Word>
    std::size_t matching_words(std::span<const std::byte> in) const noexcept;

    /// The number of bytes of each value, if all channels have one type and no bytes lie between
    /// them; otherwise 0.
    std::size_t word_ = 0;
    const Channel* widest_; ///< the channel whose counter has the most bits
};

LanesChecker::LanesChecker(const Generator& generator, const Format& format)
    : Checker(generator, format),
      widest_(&*std::max_element(format_.channels.begin(), format_.channels.end(),
                                 [](const Channel& a, const Channel& b) {
                                     return lane_counter_bits(a) < lane_counter_bits(b);
                                 }))
{
    const Channel& first = format_.channels[0];
    const bool alike =
        std::all_of(format_.channels.begin(), format_.channels.end(), [&](const Channel& c) {
            return c.type == first.type && lane_counter_bits(c) == lane_counter_bits(first);
        });
    if (alike && first.type.repeat == 1 && format_.channels.size() <= kMostWords &&
        format_.sample_bytes == format_.channels.size() * first.type.bytes())
        word_ = first.type.bytes();
}

bool LanesChecker::fits(const Channel& channel, const std::byte* sample,
                        std::uint64_t index) const noexcept
{
    std::byte wanted[64 * 8];
    store_value(channel.type, lane_value(channel, index), wanted);
    return std::memcmp(wanted, sample + channel.offset, channel.type.bytes()) == 0;
}

template <typename Word, bool kSwap>
Word load_word(const std::byte* at)
{
    Word word;
    std::memcpy(&word, at, sizeof word);
    return kSwap ? reversed(word) : word;
}

// Checks samples whose values are words of one type. A word is the constant of its channel plus the
// counter.
template <typename Word, bool kSwap>
std::size_t LanesChecker::matching_words(std::span<const std::byte> in) const noexcept
{
    const std::size_t channels = format_.channels.size();
    const ScanType& type = format_.channels[0].type;
    const std::uint64_t wraps = ~std::uint64_t{0} >> (64 - lane_counter_bits(*widest_));
    const auto counter = [&](std::uint64_t index) {
        return static_cast<Word>((index & wraps) << type.shift);
    };
    std::array<Word, kMostWords> lanes;
    for (std::size_t c = 0; c < channels; ++c) {
        std::byte stored[sizeof(Word)];
        store_value(type, lane_value(format_.channels[c], 0), stored);
        lanes[c] = static_cast<Word>(load_storage(type, stored));
    }
    // A loop of a constant length, which compilers vectorize, compares the words of kGroup /
    // channels samples with those of the samples from 0 on, plus the counter of the first one.
    constexpr std::size_t kGroup = 256;
    const std::uint64_t together = kGroup % channels == 0 ? kGroup / channels : 0;
    std::array<Word, kGroup> group;
    for (std::size_t k = 0; together != 0 && k < kGroup; ++k)
        group[k] = static_cast<Word>(lanes[k % channels] + counter(k / channels));
    std::size_t good = 0;
    for (std::uint64_t index = expected_; good < in.size();) {
        const std::byte* at = in.data() + good;
        std::uint64_t samples = (in.size() - good) / format_.sample_bytes;
        const std::uint64_t phase = index & wraps;
        if (together != 0 && samples >= together) {
            // The counter either does not wrap in these samples, or wraps in them as in the group.
            if (phase + together - 1 <= wraps || (phase == 0 && wraps < together)) {
                const Word first = counter(index);
                Word difference = 0;
                for (std::size_t k = 0; k < kGroup; ++k)
                    difference |= static_cast<Word>(load_word<Word, kSwap>(at + k * sizeof(Word)) ^
                                                    static_cast<Word>(group[k] + first));
                if (difference == 0) {
                    good += kGroup * sizeof(Word);
                    index += together;
                    continue;
                }
            }
            samples = std::min(together - 1, wraps - phase) + 1;
        }
        for (; samples != 0; --samples, ++index, good += format_.sample_bytes) {
            const Word now = counter(index);
            Word difference = 0;
            for (std::size_t c = 0; c < channels; ++c, at += sizeof(Word))
                difference |= static_cast<Word>(load_word<Word, kSwap>(at) ^
                                                static_cast<Word>(lanes[c] + now));
            if (difference != 0)
                return good;
        }
    }
    return good;
}

template <typename Word>
std::size_t LanesChecker::matching_words(std::span<const std::byte> in) const noexcept
{
    const bool native =
        format_.channels[0].type.big_endian == (std::endian::native == std::endian::big);
    return native ? matching_words<Word, false>(in) : matching_words<Word, true>(in);
}

std::size_t LanesChecker::matching(std::span<const std::byte> in) const noexcept
{
    switch (word_) {
    case 1:
        return matching_words<std::uint8_t>(in);
    case 2:
        return matching_words<std::uint16_t>(in);
    case 4:
        return matching_words<std::uint32_t>(in);
    case 8:
        return matching_words<std::uint64_t>(in);
    default:
        break;
    }
    std::size_t good = 0;
    for (std::uint64_t index = expected_; good < in.size(); ++index, good += format_.sample_bytes)
        for (const Channel& channel : format_.channels)
            if (!fits(channel, in.data() + good, index))
                return good;
    return good;
}

bool LanesChecker::locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept
{
    // Finds the nearest later sample with this counter. A counter whose period is longer than any
    // plausible loss can also identify an earlier sample.
    constexpr unsigned kWide = 20;
    const unsigned bits = std::min(lane_counter_bits(*widest_), 63U);
    const std::uint64_t raw =
        load_storage(widest_->type, in.data() + widest_->offset) >> widest_->type.shift;
    const std::uint64_t round = std::uint64_t{1} << bits;
    const std::uint64_t ahead = (raw - expected_) & (round - 1);
    sample = expected_ + ahead;
    if (bits >= kWide && ahead > round / 2 && ahead > most_lost_ && sample >= round)
        sample -= round;
    return std::all_of(format_.channels.begin(), format_.channels.end(),
                       [&](const Channel& channel) { return fits(channel, in.data(), sample); });
}

bool LanesChecker::swapped(std::span<const std::byte> in) const noexcept
{
    for (const Channel& channel : format_.channels) {
        const bool found = std::any_of(
            format_.channels.begin(), format_.channels.end(), [&](const Channel& other) {
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
    // Throws if the format cannot carry the pattern.
    const Generator generator(pattern, format, 0, 0);
    if (pattern == Pattern::ramp)
        return std::make_unique<RampChecker>(generator, format);
    if (pattern == Pattern::lanes)
        return std::make_unique<LanesChecker>(generator, format);
    fail_usage("only the patterns ramp and lanes can be verified");
}

Checker::Checker(const Generator& generator, const Format& format)
    : format_(format), generator_(generator)
{
    findings_.jumps.reserve(64);
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
        // If the jump leads back into an earlier gap, the sample is late, not repeated.
        const bool late =
            std::any_of(findings_.jumps.begin(), findings_.jumps.end(), [&](const Jump& g) {
                return g.samples > 0 && sample >= g.at &&
                       sample < g.at + static_cast<std::uint64_t>(g.samples);
            });
        ++(late ? findings_.reorders : findings_.repeats);
        note(std::to_string(-jump) + (late ? " samples late" : " samples repeated"));
    }
    if (findings_.jumps.size() < Findings::kMaxJumps)
        findings_.jumps.push_back(
            {findings_.samples, expected_, jump, findings_.samples - ambiguity(sample)});
    expected_ = sample;
}

// The number of samples before a jump to `sample` that are the same on both sides of the jump.
std::uint64_t Checker::ambiguity(std::uint64_t sample) const
{
    std::vector<std::byte> here(format_.sample_bytes), there(format_.sample_bytes);
    std::uint64_t back = 0;
    while (back < kMostAlike && back < std::min({findings_.samples, expected_, sample})) {
        generator_.fill(here, expected_ - back - 1);
        generator_.fill(there, sample - back - 1);
        if (here != there)
            break;
        ++back;
    }
    return back;
}

void Checker::feed(std::span<const std::byte> in)
{
    if (!waiting_.empty()) {
        const std::size_t waited = waiting_.size();
        const std::size_t size = format_.sample_bytes;
        const auto more = in.first(std::min(in.size(), (window() + size - 1) / size * size));
        waiting_.insert(waiting_.end(), more.begin(), more.end());
        const std::size_t done = scan(waiting_, waited);
        if (done < waited) { // still too few samples, and `in` has no more
            waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
            return;
        }
        waiting_.clear();
        in = in.subspan(done - waited);
    }
    const auto rest = in.subspan(scan(in, in.size()));
    waiting_.assign(rest.begin(), rest.end());
}

// Returns whether the kept samples differ from the expected samples in exactly one bit. After a
// loss, every later word of the ramp differs in at least one bit.
bool Checker::tail_is_one_wrong_bit() const
{
    std::vector<std::byte> right(waiting_.size());
    generator_.fill(right, expected_);
    int wrong_bits = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
        wrong_bits += std::popcount(std::to_integer<unsigned>(right[i] ^ waiting_[i]));
    return wrong_bits == 1;
}

void Checker::finish(Tail tail)
{
    if (waiting_.empty())
        return;
    const std::uint64_t offset = findings_.samples,
                        samples = waiting_.size() / format_.sample_bytes;
    if (tail == Tail::of_no_gap && tail_is_one_wrong_bit()) {
        mismatch("wrong data");
        expected_ += samples;
    } else {
        note("samples missing (too few are left to count them)");
        ++findings_.gaps;
        ++findings_.lost;
        // It is unknown where the samples continue, and therefore how many of them are the same on
        // both sides. There are at most as many as a word has bytes.
        if (findings_.jumps.size() < Findings::kMaxJumps)
            findings_.jumps.push_back(
                {offset, expected_, 1, offset - std::min<std::uint64_t>(offset, kMostAlike)});
    }
    findings_.samples += samples;
    waiting_.clear();
}

void Checker::skip(std::uint64_t samples)
{
    finish();
    findings_.samples += samples;
    expected_ += samples;
}

void Checker::mismatch(const std::string& what)
{
    note(what);
    ++findings_.mismatches;
}

// Checks samples until at least `until` bytes are done or too few are left to locate. Returns the
// number of bytes done.
std::size_t Checker::scan(std::span<const std::byte> in, std::size_t until)
{
    const std::size_t sample_bytes = format_.sample_bytes;
    std::size_t done = 0;
    while (done < until) {
        const std::size_t good = matching(in.subspan(done));
        findings_.samples += good / sample_bytes;
        expected_ += good / sample_bytes;
        done += good;
        const auto rest = in.subspan(done);
        if (done >= until || rest.size() < window())
            break;
        std::uint64_t sample = 0;
        // If locate() finds the expected sample, a long sample is in the right place but is wrong
        // beyond the window.
        if (locate(rest, sample) && sample != expected_) {
            jump_to(sample);
            continue;
        }
        const bool swap = swapped(rest);
        note(swap ? "channels swapped" : "wrong data");
        ++(swap ? findings_.swaps : findings_.mismatches);
        ++findings_.samples;
        ++expected_;
        done += sample_bytes;
    }
    return done;
}

} // namespace iio_stream::detail
