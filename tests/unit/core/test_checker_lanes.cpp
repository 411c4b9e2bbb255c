// SPDX-License-Identifier: MIT
#include "core/format/checker.hpp"
#include "support/pattern_stream.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using detail::Findings;
using detail::Pattern;

std::string times(const std::string& type, unsigned count)
{
    std::string list = type;
    for (unsigned i = 1; i < count; ++i)
        list += "," + type;
    return list;
}

const std::vector<const char*> kScanTypes{
    "le:s16/16>>0", "be:s16/16>>0", "le:s12/16>>0", "le:s12/16>>4",  "be:s12/16>>4",
    "le:u12/16>>4", "be:u12/16>>0", "le:s24/32>>0", "be:u24/32>>8",  "le:s32/32>>0",
    "le:u8/8>>0",   "le:s8/8>>0",   "be:s64/64>>0", "le:s40/64>>13", "le:s16/16X2>>0"};

TEST(LanesChecker, AWholeStreamPassesInEveryScanTypeAndOneToSixChannels)
{
    for (const char* type : kScanTypes)
        for (unsigned channels = 1; channels <= 6; ++channels) {
            PatternStream stream(Pattern::lanes, times(type, channels).c_str());
            stream.add(0, 5000); // wraps the narrow counters
            expect_findings(stream, {.samples = 5000}, type + std::to_string(channels));
        }
}

TEST(LanesChecker, AGapIsFoundInEveryScanTypeAndOneToSixChannels)
{
    for (const char* type : kScanTypes)
        for (unsigned channels = 1; channels <= 6; ++channels)
            for (const std::uint64_t lost : {1u, 7u}) {
                PatternStream stream(Pattern::lanes, times(type, channels).c_str());
                stream.add(0, 1000).add(1000 + lost, 99);
                Findings wanted{.samples = 1099, .gaps = 1, .lost = lost};
                wanted.jumps = {{1000, 1000, static_cast<std::int64_t>(lost)}};
                expect_findings(stream, wanted, type + std::to_string(channels));
            }
}

TEST(LanesChecker, ALossIsDeterminedModuloTheWidestCounter)
{
    PatternStream stream(Pattern::lanes, "le:u8/8,le:s24/32>>0"); // 4 and 20 bits of counter
    stream.add(0, 100).add(100 + 5000, 100);
    Findings wanted{.samples = 200, .gaps = 1, .lost = 5000};
    wanted.jumps = {{100, 100, 5000}};
    expect_findings(stream, wanted, "mixed");
}

TEST(LanesChecker, ARepeatIsDistinguishedFromALossIfTheCounterIsWideEnough)
{
    PatternStream stream(Pattern::lanes, "le:s32/32>>0,le:s32/32>>0");
    stream.add(0, 1000).add(900, 1000);
    Findings wanted{.samples = 2000, .repeats = 1};
    wanted.jumps = {{1000, 1000, -100}};
    expect_findings(stream, wanted, "repeat");
}

TEST(LanesChecker, WithANarrowCounterALongLossIsNotARepeat)
{
    PatternStream stream(Pattern::lanes, "ci16_le"); // 12 bits of counter
    stream.add(0, 1000).add(1000 + 3000, 1000);
    Findings wanted{.samples = 2000, .gaps = 1, .lost = 3000};
    wanted.jumps = {{1000, 1000, 3000}};
    expect_findings(stream, wanted, "loss");
}

TEST(LanesChecker, EachSampleWithSwappedChannelsIsCountedAsASwap)
{
    PatternStream stream(Pattern::lanes, "ci16_le");
    stream.add(0, 300);
    for (std::uint64_t i = 100; i < 110; ++i)
        std::swap_ranges(stream.sample(i), stream.sample(i) + 2, stream.sample(i) + 2);
    expect_findings(stream, {.samples = 300, .swaps = 10}, "swap");
    EXPECT_EQ(stream.check(64).first, "channels swapped at sample 100");
}

TEST(LanesChecker, AShiftByOneChannelIsFound)
{
    PatternStream stream(Pattern::lanes,
                         "le:s16/16,le:s16/16,le:s16/16"); // one value is lost, and later ones move
    stream.add(0, 100);
    std::memmove(stream.sample(50), stream.sample(50) + 2, 49 * 6);
    const Findings found = stream.check(16);
    EXPECT_FALSE(found.intact());
}

TEST(LanesChecker, ATornWordIsAMismatch)
{
    for (const char* type : {"le:s16/16>>0", "be:s12/16>>4", "le:s24/32>>0"}) {
        PatternStream base(Pattern::lanes, times(type, 2).c_str());
        base.add(0, 0x0ff0 + 300);
        // One byte of a value comes from a sample a few hundred positions later.
        PatternStream later(Pattern::lanes, times(type, 2).c_str());
        later.add(0x0ff0 + 50 + 0x111, 1);
        const bool big = base.format().channels[0].type.big_endian;
        std::byte& torn = base.sample(0x0ff0 + 50)[big ? 0 : 1];
        ASSERT_NE(torn, later.sample(0)[big ? 0 : 1]);
        torn = later.sample(0)[big ? 0 : 1];
        expect_findings(base, {.samples = 0x0ff0 + 300, .mismatches = 1}, type);
    }
}

TEST(LanesChecker, NonzeroUnusedBitsAreMismatches)
{
    PatternStream stream(Pattern::lanes, "le:s12/16>>4");
    stream.add(0, 100);
    *stream.sample(40) |= std::byte{1};
    expect_findings(stream, {.samples = 100, .mismatches = 1}, "dirt");
}

// The ways in which the words of several samples are compared at once: with a counter that does not
// wrap, wraps often, or never wraps, and with a number of channels that does not divide them.
TEST(LanesChecker, AWrongBitIsFoundAtEachPlaceOfEachSample)
{
    for (const char* name :
         {"ci16_le", "ci16_be", "ci8", "le:u64/64", "le:s16/16,le:s16/16,le:s16/16"}) {
        Format format = Format::parse(name);
        if (format.channels[0].type.bits == 64)
            format.channels[0].component = Component::counter;
        constexpr std::size_t kSamples = 700, kFirst = 4000; // a 12-bit counter wraps at 4096
        std::vector<std::byte> right(kSamples * format.sample_bytes);
        detail::Generator(Pattern::lanes, format, 0, 0).fill(right, kFirst);
        for (std::size_t at = 0; at < right.size(); at += 7) {
            std::vector<std::byte> wrong = right;
            wrong[at] ^= std::byte{0x80};
            const auto checker = detail::Checker::make(Pattern::lanes, format);
            checker->begin_with(kFirst);
            checker->feed(wrong);
            checker->finish();
            const Findings& found = checker->findings();
            const std::string where = "at sample " + std::to_string(at / format.sample_bytes);
            ASSERT_EQ(found.samples, kSamples) << name << " " << at;
            ASSERT_TRUE(!found.intact() || found.gaps != 0) << name << " " << at;
            ASSERT_TRUE(found.first.ends_with(where)) << name << " " << found.first;
        }
    }
}

} // namespace
