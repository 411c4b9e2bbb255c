// SPDX-License-Identifier: MIT
// counter=channel:NAME: what a counter of few bits can show, and what it cannot.
#include "iio/loss/counter.hpp"
#include "support/errors.hpp"
#include "sys/event.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using iio::Counter;

struct ChannelCounted {
    Format format = Format::parse("ci16_le");
    std::unique_ptr<Counter> counter = Counter::make("channel:" + format.channels[0].id, format);

    double rate = 0;
    Counter::Dated dated = Counter::Dated::at_end;
    std::vector<std::int64_t> ends = {}; ///< ns after the start; none: all at once

    // The gaps in blocks of such counts of sample.
    std::vector<Gap> gaps_in(const std::vector<std::vector<unsigned>>& blocks)
    {
        counter->reset(blocks[0].size() * format.sample_bytes, rate, dated);
        const std::int64_t start_ns = sys::monotonic_ns();
        std::size_t n = 0;
        detail::SampleTracker tracker;
        tracker.reset(format.sample_bytes);
        std::vector<Gap> gaps;
        for (const auto& block : blocks) {
            std::vector<std::byte> bytes;
            for (const unsigned count : block)
                for (const unsigned byte : {count & 255, count >> 8 & 255, 0U, 0U})
                    bytes.push_back(static_cast<std::byte>(byte));
            counter->report_gaps(bytes, tracker, start_ns + (ends.empty() ? 0 : ends[n++]));
            const BlockInfo info = tracker.next(bytes.size(), {});
            gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
        }
        return gaps;
    }
};

TEST(ChannelCounter, OfSixteenBitsGivesTheMinimumLoss)
{
    const auto gaps =
        ChannelCounted{}.gaps_in({{0, 1, 2, 3}, {104, 105, 106, 107}, {108, 109, 120, 121}});
    ASSERT_EQ(gaps.size(), 2U);
    EXPECT_EQ(gaps[0].lost_min, 100U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown); // or 65536 more
    EXPECT_EQ(gaps[0].offset_min, 4U);
    EXPECT_EQ(gaps[1].lost_min, 10U);
    EXPECT_EQ(gaps[1].offset_max, 10U);
}

TEST(ChannelCounter, WrapsWithoutALoss)
{
    EXPECT_TRUE(ChannelCounted{}.gaps_in({{65533, 65534, 65535, 0}, {1, 2, 3, 4}}).empty());
}

TEST(ChannelCounter, ThatStepsBackHasRestarted)
{
    const auto gaps = ChannelCounted{}.gaps_in({{5000, 5001, 5002, 5003}, {0, 1, 2, 3}});
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown);
}

// A device that makes 1 MS/s, counted by 16 bits, and loses that many samples before its fourth
// block.
std::vector<Gap> gaps_for(std::uint64_t lost, Counter::Dated dated, double stated_rate = 1e6)
{
    constexpr unsigned kBlock = 10'000;
    ChannelCounted counted{.rate = stated_rate, .dated = dated};
    std::vector<std::vector<unsigned>> blocks;
    std::uint64_t made = 0;
    for (unsigned block = 0; block < 8; ++block) {
        made += block == 3 ? lost : 0;
        blocks.emplace_back();
        for (unsigned i = 0; i < kBlock; ++i)
            blocks.back().push_back(static_cast<unsigned>(made++ % 65536));
        counted.ends.push_back(static_cast<std::int64_t>(made) * 1000);
    }
    return counted.gaps_in(blocks);
}

TEST(ChannelCounter, ThatMayHaveWrappedSaysHowOftenByTheClock)
{
    for (const std::uint64_t lost : {5ULL, 20'000ULL, 70'000ULL, 65536ULL * 3 + 9, 10'000'009ULL})
        for (const auto dated : {Counter::Dated::at_end, Counter::Dated::on_arrival}) {
            if (lost % 65536 > 32767)
                continue; // taken for a step back
            const auto gaps = gaps_for(lost, dated);
            ASSERT_EQ(gaps.size(), 1U);
            EXPECT_EQ(gaps[0].lost_min, lost % 65536);
            EXPECT_GE(gaps[0].lost_max, lost);
            EXPECT_EQ((gaps[0].lost_max - lost) % 65536, 0U);
            EXPECT_LE(gaps[0].lost_max,
                      lost + lost / 64 + 165'536); // the clock's possible error
        }
    // What has come since the start leaves no room for a turn of the counter.
    EXPECT_EQ(gaps_for(5, Counter::Dated::at_end)[0].lost_max, 5U);
}

TEST(ChannelCounter, OfADeviceFasterThanItSaysGivesNoMaximum)
{
    EXPECT_EQ(gaps_for(5, Counter::Dated::at_end, 1e3)[0].lost_max, kUnknown);
}

TEST(ChannelCounter, ThatStepsBackLosesWhatTheClockAllows)
{
    const auto gaps =
        gaps_for(65536 - 1000, Counter::Dated::at_end); // looks like a step back of 1000
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_GE(gaps[0].lost_max, 65536U - 1000);
    EXPECT_LE(gaps[0].lost_max, 65536U + 65536 / 64 + 120'000);
}

TEST(ChannelCounter, ThatMayWrapWithinABlockIsRefused)
{
    ChannelCounted counted;
    EXPECT_NO_THROW(counted.counter->reset(65535 * counted.format.sample_bytes));
    EXPECT_THROW(counted.counter->reset(65536 * counted.format.sample_bytes), Error);
}

} // namespace
