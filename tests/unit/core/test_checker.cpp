// SPDX-License-Identifier: MIT
#include "core/format/checker.hpp"
#include "support/errors.hpp"
#include "support/pattern_stream.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using detail::Checker;
using detail::Findings;
using detail::Pattern;

// Samples of 2 to 48 bytes: smaller than the words of the ramp, larger, and not a multiple of their
// size.
const std::vector<const char*> kSizes{
    "ri8",
    "ri16_le",
    "ci16_le",
    "le:s16/16,le:s16/16,le:s16/16",
    "cf32_le",
    "le:s16/16,le:s16/16,le:s16/16,le:s16/16,le:s16/16",
    "le:s32/32,le:s32/32,le:s32/32",
    "le:s64/64,le:s64/64,le:s64/64,le:s64/64,le:s64/64,le:s64/64"};

TEST(RampChecker, AWholeRampPassesInSamplesOfAnySize)
{
    for (const char* format : kSizes) {
        PatternStream stream(Pattern::ramp, format);
        stream.add(0, 5000);
        expect_findings(stream, {.samples = 5000}, format);
    }
}

TEST(RampChecker, AGapOfAnyLengthIsFoundWithItsPlaceAndLength)
{
    for (const char* format : {"ci16_le", "le:s16/16,le:s16/16,le:s16/16", "cf32_le", "ri16_le"})
        for (const std::uint64_t lost : {1u, 2u, 3u, 7u, 64u, 1001u, 1'000'003u})
            for (const std::uint64_t at : {0u, 1u, 2u, 3u, 99u, 100u, 4095u, 4096u}) {
                PatternStream stream(Pattern::ramp, format);
                stream.add(0, at).add(at + lost, 1000);
                Findings wanted{.samples = at + 1000, .gaps = 1, .lost = lost};
                wanted.jumps = {{at, at, static_cast<std::int64_t>(lost)}};
                expect_findings(stream, wanted,
                                format + std::to_string(lost) + " at " + std::to_string(at));
            }
}

TEST(RampChecker, AGapAtTheVeryEndOfABlockIsFound)
{
    // The last sample of a piece is too short to show its position in the ramp; the next sample
    // shows it.
    for (const char* format : {"ci16_le", "le:s16/16,le:s16/16,le:s16/16", "ri16_le", "ri8"})
        for (std::uint64_t before = 1; before < 20; ++before) {
            PatternStream stream(Pattern::ramp, format);
            stream.add(0, 100 - before).add(100 - before + 5000, 300);
            Findings wanted{.samples = 400 - before, .gaps = 1, .lost = 5000};
            wanted.jumps = {{100 - before, 100 - before, 5000}};
            expect_findings(stream, wanted, format + std::to_string(before));
        }
}

TEST(RampChecker, TwoGapsCloseTogetherAreReportedSeparately)
{
    for (const std::uint64_t between : {8u, 12u, 15u, 16u, 100u}) {
        PatternStream stream(Pattern::ramp, "ci16_le");
        stream.add(0, 101).add(151, between).add(1151 + between, 500);
        Findings wanted{.samples = 601 + between, .gaps = 2, .lost = 1050};
        wanted.jumps = {{101, 101, 50}, {101 + between, 0, 1000}};
        expect_findings(stream, wanted, std::to_string(between));
    }
}

TEST(RampChecker, ARepeatIsNotAGap)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 1000).add(500, 1000);
    Findings wanted{.samples = 2000, .repeats = 1};
    wanted.jumps = {{1000, 1000, -500}};
    expect_findings(stream, wanted, "repeat");
    EXPECT_EQ(stream.check(100).first, "500 samples repeated at sample 1000");
    EXPECT_FALSE(stream.check(100).intact());
}

TEST(RampChecker, BlocksInTheWrongOrderAreAReorder)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 100).add(200, 100).add(100, 100).add(300, 100);
    Findings wanted{.samples = 400, .gaps = 2, .lost = 200, .reorders = 1};
    wanted.jumps = {{100, 100, 100}, {200, 300, -200}, {300, 200, 100}};
    expect_findings(stream, wanted, "reorder");
}

TEST(RampChecker, ABlockReplacedByAnOlderOneIsARepeatAndAGap)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 200).add(100, 100).add(300, 100);
    Findings wanted{.samples = 400, .gaps = 1, .lost = 100, .repeats = 1};
    wanted.jumps = {{200, 200, -100}, {300, 200, 100}};
    expect_findings(stream, wanted, "stale block");
}

TEST(RampChecker, ASingleWrongByteIsOneWrongSample)
{
    for (const char* format : kSizes) {
        PatternStream stream(Pattern::ramp, format);
        stream.add(0, 3000);
        for (const std::uint64_t at : {0u, 1u, 777u, 2900u})
            *stream.sample(at) ^= std::byte{0x10};
        expect_findings(stream, {.samples = 3000, .mismatches = 4}, format);
    }
}

TEST(RampChecker, AFlippedBitIsOneWrongSampleWhereverItIs)
{
    for (const char* format : kSizes) {
        PatternStream stream(Pattern::ramp, format);
        stream.add(0, 100);
        const std::size_t size = Format::parse(format).sample_bytes;
        for (std::uint64_t at = 0; at < 100; at += at == 20 ? 60 : 1) {
            // Flip each bit of the samples at both ends and of some in between, and every seventh
            // bit of the other samples, at different offsets.
            const bool all = at % 20 == 0 || at == 99;
            for (std::size_t bit = all ? 0 : at % 7; bit < size * 8; bit += all ? 1 : 7) {
                std::byte& changed = stream.sample(at)[bit / 8];
                changed ^= std::byte{1} << bit % 8;
                expect_findings(stream, {.samples = 100, .mismatches = 1},
                                format + (" at " + std::to_string(at)) + " bit " +
                                    std::to_string(bit));
                changed ^= std::byte{1} << bit % 8;
            }
        }
    }
}

TEST(RampChecker, ASwapOfIAndQIsFound)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 1000);
    for (std::uint64_t i = 0; i < 1000; ++i)
        std::swap_ranges(stream.sample(i), stream.sample(i) + 2, stream.sample(i) + 2);
    EXPECT_FALSE(stream.check(100).intact());
}

TEST(RampChecker, ZerosInPlaceOfALossAreMismatchesAndTheRestIsCorrect)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 3000);
    std::memset(stream.sample(1000), 0, 100 * 4);
    const Findings found = stream.check(512);
    EXPECT_EQ(found.samples, 3000u);
    EXPECT_EQ(found.gaps, 0u);
    EXPECT_GT(found.mismatches, 40u); // in a ramp this short, every second sample contains a zero
}

TEST(RampChecker, GarbageIsNotMistakenForAPositionInTheRamp)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 1000).add(1000, 256).add(1256, 1000);
    std::uint32_t random = 1;
    for (std::uint64_t i = 1000; i < 1256; ++i) {
        random = random * 1664525 + 1013904223;
        std::memcpy(stream.sample(i), &random, 4);
    }
    for (const std::size_t piece : kPieces) {
        const Findings found = stream.check(piece);
        EXPECT_EQ(found.mismatches, 256u) << found.first;
        EXPECT_EQ(found.samples, 2256u);
        EXPECT_EQ(found.jumps.size(), 0u);
    }
}

TEST(RampChecker, ATailTooShortToLocateCountsAsALossOfAtLeastOne)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 100).add(207, 1); // one sample; no later sample shows its position
    const Findings found = stream.check(1000);
    EXPECT_EQ(found.samples, 101u);
    EXPECT_EQ(found.gaps, 1u);
    EXPECT_EQ(found.lost, 1u);
    EXPECT_TRUE(found.intact()); // a report of a loss at this place is correct
}

TEST(RampChecker, AOneBitChangeInTheTailIsALossIfALossWasReported)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    stream.add(0, 100).add(100 + 128, 1); // word 50, or 50 + 64
    EXPECT_EQ(stream.check(1000).mismatches, 1u);
    const Findings found = stream.check(1000, detail::Tail::of_gap);
    EXPECT_EQ(found.gaps, 1u);
    EXPECT_TRUE(found.intact());
}

TEST(RampChecker, AnEmptyStreamIsIntact)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    expect_findings(stream, {}, "empty");
    EXPECT_TRUE(stream.check(1).intact());
}

TEST(Checker, OnlyRampAndLanesCanBeChecked)
{
    for (const Pattern pattern : {Pattern::tone, Pattern::noise, Pattern::stamp})
        expect_usage_error([&] { Checker::make(pattern, Format::parse("ci16_le")); },
                           "ramp and lanes");
    expect_usage_error([] { Checker::make(Pattern::lanes, Format::parse("cf32_le")); }, "integers");
}

TEST(Checker, AllJumpsAreCountedEvenThoseThatAreNotKept)
{
    PatternStream stream(Pattern::ramp, "ci16_le");
    const std::uint64_t jumps = Findings::kMaxJumps + 100;
    for (std::uint64_t i = 0; i <= jumps; ++i)
        stream.add(i * 101, 100);
    const Findings found = stream.check(1000);
    EXPECT_EQ(found.gaps, jumps);
    EXPECT_EQ(found.lost, jumps);
    EXPECT_EQ(found.jumps.size(), Findings::kMaxJumps);
    EXPECT_TRUE(found.intact());
}

} // namespace
