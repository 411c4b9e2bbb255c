// SPDX-License-Identifier: MIT
#include "framing/sequence_tracker.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <span>
#include <vector>

using namespace iio_stream;
using namespace iio_stream::framing;

// A sender loses samples, detects each loss sooner or later, and can locate it only roughly. Some
// blocks are lost on the way. The receiver must not report a loss where there is none, nor more
// lost samples than there are.
TEST(FramingClaims, EachReportedLossIsTrue)
{
    constexpr std::size_t kSampleBytes = 4;
    constexpr std::uint64_t kBlock = 100, kBlocks = 40;
    for (unsigned seed = 0; seed < 1000; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](unsigned n) { return static_cast<std::uint64_t>(random() % n); };
        std::vector<std::vector<Gap>> told(kBlocks + 8);       // by the block that reports it
        std::vector<std::uint64_t> lost(kBlocks * kBlock + 1); // by the sample after the loss
        for (std::uint64_t n = below(8); n > 0; --n) {
            const std::uint64_t place = 1 + below(kBlocks * kBlock - 1), count = 1 + below(3);
            lost[place] += count;
            const std::uint64_t least = 1 + below(static_cast<unsigned>(count));
            told[place / kBlock + below(4)].push_back({place - std::min(place, below(250)),
                                                       place + below(450), least, count + below(9),
                                                       Evidence::overflow_bit});
        }
        detail::SampleTracker sender;
        sender.reset(kSampleBytes);
        SequenceTracker receiver;
        receiver.reset(kSampleBytes);
        std::vector<std::uint64_t> missing(kBlocks * kBlock +
                                           1); // the true losses, by the next sample that arrives
        std::vector<Gap> claims;
        std::uint64_t arrived = 0, total = 0;
        for (std::uint64_t block = 0; block < kBlocks; ++block) {
            for (const Gap& gap : told[block])
                sender.gap(gap);
            const BlockInfo info = sender.next(kBlock * kSampleBytes, {});
            Header h;
            h.sample_index = info.sample_index;
            h.valid_bytes = kBlock * kSampleBytes;
            h.loss = merge_losses(std::span(info.gaps).first(info.gap_count), info.position);
            // Headers with a loss always arrive: a loss in a lost header would remain unknown.
            const bool comes = block == 0 || h.loss || below(12) != 0;
            for (std::uint64_t i = 0; i < kBlock; ++i) {
                const std::uint64_t before = lost[block * kBlock + i];
                missing[arrived] += before + (comes ? 0 : 1);
                total += before + (comes ? 0 : 1);
                arrived += comes ? 1 : 0;
            }
            if (!comes)
                continue;
            ASSERT_TRUE(receiver.account(h));
            const BlockInfo received = receiver.next(h, {}, false);
            claims.insert(claims.end(), received.gaps.begin(),
                          received.gaps.begin() + received.gap_count);
        }
        std::uint64_t least = 0;
        for (const Gap& claim : claims) {
            std::uint64_t there = 0;
            for (std::uint64_t at = claim.offset_min; at <= std::min(claim.offset_max, arrived);
                 ++at)
                there += missing[at];
            EXPECT_LE(claim.lost_min, there)
                << "seed " << seed << ", " << claim.offset_min << " to " << claim.offset_max;
            least += claim.lost_min;
        }
        EXPECT_LE(least, total) << "seed " << seed;
    }
}
