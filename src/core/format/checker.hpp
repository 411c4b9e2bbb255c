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
    std::uint64_t offset = 0; ///< samples of the stream before the jump, at most
    std::uint64_t at = 0;     ///< the sample of the pattern expected there
    std::int64_t samples = 0; ///< > 0: samples lost; < 0: samples seen before
    /// The earliest possible offset of the jump. The samples from here to `offset` are the same on
    /// both sides of the jump (the upper halves of the ramp's words stay zero for a long time).
    std::uint64_t earliest = 0;
};

/// The results of a Checker.
struct Findings {
    std::uint64_t samples = 0;
    std::uint64_t mismatches = 0; ///< samples that match no place in the pattern
    std::uint64_t gaps = 0, lost = 0;
    std::uint64_t repeats = 0;    ///< jumps back
    std::uint64_t reorders = 0;   ///< jumps back into an earlier gap
    std::uint64_t swaps = 0;      ///< samples with channels swapped
    std::string first = {};       ///< description of the first finding of any kind
    std::vector<Jump> jumps = {}; ///< the first kMaxJumps jumps

    static constexpr std::size_t kMaxJumps = 4096;
    bool intact() const noexcept { return mismatches + repeats + reorders + swaps == 0; }
};

/// Whether a loss was reported right before the last samples of a stream.
enum class Tail { of_no_gap, of_gap };

/// Compares a stream with a pattern, sample by sample, and continues after each difference.
class Checker {
public:
    /// Throws a usage Error for a pattern that cannot be checked, or that `format` cannot carry.
    static std::unique_ptr<Checker> make(Pattern pattern, const Format& format);
    virtual ~Checker() = default;
    /// Sets the sample of the pattern with which the stream starts. By default, it is the first.
    void begin_with(std::uint64_t sample) noexcept { expected_ = sample; }

    /// The number of samples after which the pattern repeats; kUnknown: it never does.
    virtual std::uint64_t period() const noexcept { return kUnknown; }
    /// Declares that losses of up to `most` samples in total are reported for the samples that are
    /// fed next. A jump that could be either back or forward by at most `most` samples then counts
    /// as a jump forward.
    void expect_loss(std::uint64_t most) noexcept { most_lost_ = most; }

    /// Checks the next whole samples of the stream. The last few samples after a jump are kept
    /// until more follow, because alone they do not reveal their position.
    void feed(std::span<const std::byte> samples);
    /// Skips this many samples of the pattern. In their place, the stream has other data, which are
    /// checked elsewhere.
    void skip(std::uint64_t samples);
    void mismatch(const std::string& what); ///< counts one wrong sample in such other data
    /// The maximum number of samples that are the same on both sides of a jump. They belong to one
    /// word of the ramp, and a sample has at least one byte.
    static constexpr std::uint64_t kMostAlike = 8;

    /// Ends the stream. If samples are still kept, a loss of unknown length (at least one sample)
    /// is counted before them. If only one of their bits is wrong and no loss was reported there,
    /// they count as one wrong sample instead.
    void finish(Tail tail = Tail::of_no_gap);
    const Findings& findings() const noexcept { return findings_; }

protected:
    Checker(const Generator& generator, const Format& format);

    /// The number of bytes at the start of `in` that are as expected, in whole samples.
    virtual std::size_t matching(std::span<const std::byte> in) const noexcept = 0;
    /// The number of bytes that locate() needs.
    virtual std::size_t window() const noexcept = 0;
    /// Sets `sample` to the sample of the pattern at which `in` starts. Returns false if there is
    /// none.
    virtual bool locate(std::span<const std::byte> in, std::uint64_t& sample) const noexcept = 0;
    /// Whether the first sample of `in` is right except for the order of its channels.
    virtual bool swapped(std::span<const std::byte> in) const noexcept { return (void)in, false; }

    Format format_;
    std::uint64_t expected_ = 0;  ///< the pattern's sample that should come next
    std::uint64_t most_lost_ = 0; ///< set by expect_loss()

private:
    std::size_t scan(std::span<const std::byte> in, std::size_t until);
    bool tail_is_one_wrong_bit() const;
    void jump_to(std::uint64_t sample);
    std::uint64_t ambiguity(std::uint64_t sample) const;
    void note(const std::string& what);

    Generator generator_;
    std::vector<std::byte> waiting_; ///< samples that are too few to locate
    Findings findings_;
};

} // namespace iio_stream::detail
