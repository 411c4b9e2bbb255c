// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/checker.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace iio_stream::test {

/// Builds a stream from sections of a pattern and checks it in pieces.
class PatternStream {
public:
    PatternStream(detail::Pattern pattern, const char* format)
        : pattern_(pattern), format_(Format::parse(format)), generator_(pattern, format_, 0, 0)
    {}

    PatternStream& add(std::uint64_t first, std::uint64_t count)
    {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + count * format_.sample_bytes);
        generator_.fill(std::span(bytes_).subspan(at), first);
        return *this;
    }
    std::byte* sample(std::uint64_t index) { return bytes_.data() + index * format_.sample_bytes; }
    const Format& format() const { return format_; }

    /// Checks the stream in pieces of `piece` samples, and returns the findings.
    detail::Findings check(std::size_t piece, detail::Tail tail = detail::Tail::of_no_gap) const
    {
        auto checker = detail::Checker::make(pattern_, format_);
        const std::size_t bytes = piece * format_.sample_bytes;
        for (std::size_t at = 0; at < bytes_.size(); at += bytes)
            checker->feed(std::span(bytes_).subspan(at, std::min(bytes, bytes_.size() - at)));
        checker->finish(tail);
        return checker->findings();
    }

private:
    detail::Pattern pattern_;
    Format format_;
    detail::Generator generator_;
    std::vector<std::byte> bytes_;
};

inline const std::vector<std::size_t> kPieces{1, 2, 3, 5, 16, 17, 100, 4096, 1'000'000};

/// Checks that every way of splitting the stream gives the same findings.
inline void expect_findings(const PatternStream& stream, const detail::Findings& wanted,
                            const std::string& what)
{
    for (const std::size_t piece : kPieces) {
        const detail::Findings found = stream.check(piece);
        SCOPED_TRACE(what + ", in pieces of " + std::to_string(piece) + ": " + found.first);
        ASSERT_EQ(found.samples, wanted.samples);
        ASSERT_EQ(found.mismatches, wanted.mismatches);
        ASSERT_EQ(found.gaps, wanted.gaps);
        ASSERT_EQ(found.lost, wanted.lost);
        ASSERT_EQ(found.repeats, wanted.repeats);
        ASSERT_EQ(found.reorders, wanted.reorders);
        ASSERT_EQ(found.swaps, wanted.swaps);
        ASSERT_EQ(found.jumps.size(), wanted.jumps.size());
        for (std::size_t i = 0; i < wanted.jumps.size(); ++i) {
            // Equal bytes on both sides of a jump, up to a word of the ramp, leave its position
            // ambiguous.
            const detail::Jump& jump = found.jumps[i];
            ASSERT_LE(jump.earliest, wanted.jumps[i].offset);
            ASSERT_GE(jump.offset, wanted.jumps[i].offset);
            ASSERT_LT((jump.offset - jump.earliest) * stream.format().sample_bytes, 8u);
            ASSERT_EQ(jump.samples, wanted.jumps[i].samples);
        }
    }
}

} // namespace iio_stream::test
