// SPDX-License-Identifier: MIT
#pragma once

#include "core/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::detail {

/// A jump that was found in a pattern's stream.
struct Jump {
    std::uint64_t offset = 0;  ///< samples of the stream before it, at most
    std::uint64_t at = 0;      ///< the pattern's sample that was expected there
    std::int64_t samples = 0;  ///< > 0 lost, < 0 seen before
    /// The jump may be as early as this: the samples from here to `offset` are alike on both sides
    /// of it (the upper halves of the ramp's words are zeros for a long time).
    std::uint64_t earliest = 0;
};

/// What a Checker has seen.
struct Findings {
    std::uint64_t samples = 0;
    std::uint64_t mismatches = 0;  ///< samples that fit nowhere
    std::uint64_t gaps = 0, lost = 0;
    std::uint64_t repeats = 0;     ///< jumps back
    std::uint64_t reorders = 0;    ///< jumps back into what was missed before
    std::uint64_t swaps = 0;       ///< samples with another channel's value in a channel
    std::string first = {};        ///< the first of any, in words
    std::vector<Jump> jumps = {};  ///< the first kMaxJumps of them

    static constexpr std::size_t kMaxJumps = 4096;
    bool intact() const noexcept { return mismatches + repeats + reorders + swaps == 0; }
};

/// Compares a stream with a pattern, sample by sample, and goes on after each difference.
class Checker {
public:
    /// Throws a usage Error for patterns that cannot be checked, or not in that format.
    static std::unique_ptr<Checker> make(Pattern pattern, const Format& format);
    virtual ~Checker() = default;
    /// The stream begins with that sample of the pattern, and not with its first.
    void begin_with(std::uint64_t sample) noexcept { expected_ = sample; }

    /// The next whole samples of the stream. The last few after a jump wait for those that follow:
    /// alone they do not tell their place.
    void feed(std::span<const std::byte> samples);
    /// So many samples of the pattern are not in the stream, and others that were looked at stand
    /// there for them.
    void skip(std::uint64_t samples);
    void mismatch(const std::string& what); ///< one of those others is wrong
    /// There is no more: samples that still wait follow a loss of unknown length, at least one.
    void finish();
    const Findings& findings() const noexcept { return findings_; }

protected:
    Checker(const Generator& generator, const Format& format);

    /// Bytes from `in` that are as expected, a whole number of samples.
    virtual std::size_t matching(std::span<const std::byte> in) const noexcept = 0;
    /// How many bytes locate() looks at.
    virtual std::size_t window() const noexcept = 0;
    /// Where in the pattern's stream `in` starts, in samples; false where it is nowhere.
    virtual bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept = 0;
    /// Whether the first sample of `in` is right but for its channels' order.
    virtual bool swapped(std::span<const std::byte> in) const noexcept { return (void)in, false; }

    Format format_;
    std::uint64_t expected_ = 0; ///< sample of the pattern that should come next

private:
    std::size_t scan(std::span<const std::byte> in, std::size_t until);
    void jump_to(std::uint64_t sample);
    std::uint64_t ambiguity(std::uint64_t sample) const;
    void note(const std::string& what);

    Generator generator_;
    std::vector<std::byte> waiting_; ///< samples that are too few to be placed
    Findings findings_;
};

} // namespace iio_stream::detail
