// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/pattern.hpp"
#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::detail {

/// A jump found in the stream of a pattern.
struct Jump {
    std::uint64_t offset = 0; ///< samples of the stream before it, at most
    std::uint64_t at = 0;     ///< the sample of the pattern expected there
    std::int64_t samples = 0; ///< > 0 lost, < 0 seen before
    /// The jump may be as early as this: the samples from here to `offset` are the same on both
    /// sides of it (the upper halves of the ramp's words stay zero for a long time).
    std::uint64_t earliest = 0;
};

/// What a Checker has seen.
struct Findings {
    std::uint64_t samples = 0;
    std::uint64_t mismatches = 0; ///< samples that fit nowhere
    std::uint64_t gaps = 0, lost = 0;
    std::uint64_t repeats = 0;    ///< jumps back
    std::uint64_t reorders = 0;   ///< jumps back into an earlier gap
    std::uint64_t swaps = 0;      ///< samples with channels swapped
    std::string first = {};       ///< the first finding of any kind, in words
    std::vector<Jump> jumps = {}; ///< the first kMaxJumps of them

    static constexpr std::size_t kMaxJumps = 4096;
    bool intact() const noexcept { return mismatches + repeats + reorders + swaps == 0; }
};

/// Whether a loss was reported right before the last samples of a stream.
enum class Tail { of_no_gap, of_gap };

/// Compares a stream with a pattern, sample by sample, and continues after each difference.
class Checker {
public:
    /// Throws a usage Error for patterns that cannot be checked, or not in that format.
    static std::unique_ptr<Checker> make(Pattern pattern, const Format& format);
    virtual ~Checker() = default;
    /// The stream starts at this sample of the pattern instead of its first.
    void begin_with(std::uint64_t sample) noexcept { expected_ = sample; }

    /// After how many samples the pattern is the same again; kUnknown: it never is.
    virtual std::uint64_t period() const noexcept { return kUnknown; }
    /// Up to this many samples are reported as lost in what is fed next. Where a jump forward by
    /// that many looks like one back, it is one forward.
    void expect_loss(std::uint64_t most) noexcept { most_lost_ = most; }

    /// The next whole samples of the stream. The last few after a jump are kept until more follow:
    /// alone they do not reveal their position.
    void feed(std::span<const std::byte> samples);
    /// The stream has other data, checked elsewhere, in place of this many samples of the pattern.
    void skip(std::uint64_t samples);
    void mismatch(const std::string& what); ///< one of those other samples is wrong
    /// Nothing is the same on both sides of a jump for longer than a word of the ramp, in samples.
    static constexpr std::uint64_t kMostAlike = 8;

    /// No more samples: those still kept follow a loss of unknown length, at least one sample. If
    /// only one of their bits is wrong, and no loss was reported there, it is a wrong sample.
    void finish(Tail tail = Tail::of_no_gap);
    const Findings& findings() const noexcept { return findings_; }

protected:
    Checker(const Generator& generator, const Format& format);

    /// How many bytes of `in` are as expected, a whole number of samples.
    virtual std::size_t matching(std::span<const std::byte> in) const noexcept = 0;
    /// How many bytes locate() needs.
    virtual std::size_t window() const noexcept = 0;
    /// Where in the pattern `in` starts, in samples; false if nowhere.
    virtual bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept = 0;
    /// Whether the first sample of `in` is right except for the order of its channels.
    virtual bool swapped(std::span<const std::byte> in) const noexcept { return (void)in, false; }

    Format format_;
    std::uint64_t expected_ = 0;  ///< the pattern's sample that should come next
    std::uint64_t most_lost_ = 0; ///< by expect_loss()

private:
    std::size_t scan(std::span<const std::byte> in, std::size_t until);
    bool tail_is_one_wrong_bit() const;
    void jump_to(std::uint64_t sample);
    std::uint64_t ambiguity(std::uint64_t sample) const;
    void note(const std::string& what);

    Generator generator_;
    std::vector<std::byte> waiting_; ///< samples too few to locate
    Findings findings_;
};

} // namespace iio_stream::detail
