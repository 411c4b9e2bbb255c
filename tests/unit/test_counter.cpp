// SPDX-License-Identifier: MIT
// counter=channel:NAME: what a counter of few bits can tell, and what it cannot.
#include "iio/counter.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using iio::Counter;

struct ChannelCounted {
    Format format = Format::parse("ci16_le");
    std::unique_ptr<Counter> counter = Counter::make("channel:" + format.channels[0].id, format);

    // The gaps in blocks of such counts of sample.
    std::vector<Gap> told(const std::vector<std::vector<unsigned>>& blocks)
    {
        counter->reset(blocks[0].size() * format.sample_bytes);
        detail::Witness witness;
        witness.reset(format.sample_bytes);
        std::vector<Gap> gaps;
        for (const auto& block : blocks) {
            std::vector<std::byte> bytes;
            for (const unsigned count : block)
                for (const unsigned byte : {count & 255, count >> 8 & 255, 0U, 0U})
                    bytes.push_back(static_cast<std::byte>(byte));
            counter->look(bytes, witness);
            const BlockInfo info = witness.next(bytes.size(), {});
            gaps.insert(gaps.end(), info.gaps.begin(), info.gaps.begin() + info.gap_count);
        }
        return gaps;
    }
};

TEST(ChannelCounter, OfSixteenBitsTellsTheLeastThatIsLost)
{
    const auto gaps = ChannelCounted{}.told({{0, 1, 2, 3}, {104, 105, 106, 107}, {108, 109, 120, 121}});
    ASSERT_EQ(gaps.size(), 2U);
    EXPECT_EQ(gaps[0].lost_min, 100U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown); // or 65536 more
    EXPECT_EQ(gaps[0].offset_min, 4U);
    EXPECT_EQ(gaps[1].lost_min, 10U);
    EXPECT_EQ(gaps[1].offset_max, 10U);
}

TEST(ChannelCounter, GoesRoundWithoutALoss)
{
    EXPECT_TRUE(ChannelCounted{}.told({{65533, 65534, 65535, 0}, {1, 2, 3, 4}}).empty());
}

TEST(ChannelCounter, ThatStepsBackHasBegunAnew)
{
    const auto gaps = ChannelCounted{}.told({{5000, 5001, 5002, 5003}, {0, 1, 2, 3}});
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].lost_min, 0U);
    EXPECT_EQ(gaps[0].lost_max, kUnknown);
}

TEST(ChannelCounter, ThatMayGoRoundWithinABlockIsRefused)
{
    ChannelCounted counted;
    EXPECT_NO_THROW(counted.counter->reset(65535 * counted.format.sample_bytes));
    EXPECT_THROW(counted.counter->reset(65536 * counted.format.sample_bytes), Error);
}

} // namespace
