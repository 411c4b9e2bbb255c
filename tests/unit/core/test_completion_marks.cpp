// SPDX-License-Identifier: MIT
#include "core/loss/completion_marks.hpp"

#include <gtest/gtest.h>

namespace {

using iio_stream::detail::CompletionMarks;

constexpr std::int64_t kMarkSpacing = CompletionMarks::kSpacing;

TEST(CompletionMarks, WithoutACompletionThereIsNoMark)
{
    CompletionMarks marks;
    EXPECT_FALSE(marks.newest());
    EXPECT_FALSE(marks.at(INT64_MAX));
    EXPECT_EQ(marks.complete_at(INT64_MAX, 1e6), 0u);
    marks.add({100, 5});
    marks.clear();
    EXPECT_FALSE(marks.newest());
}

TEST(CompletionMarks, TheNewestMarkAtOrBeforeATimeIsFound)
{
    CompletionMarks marks;
    for (int i = 1; i <= 5; ++i)
        marks.add({static_cast<std::uint64_t>(100 * i), i * kMarkSpacing});
    EXPECT_FALSE(marks.at(kMarkSpacing - 1));
    EXPECT_EQ(marks.at(kMarkSpacing)->position, 100u);
    EXPECT_EQ(marks.at(3 * kMarkSpacing - 1)->position, 200u);
    EXPECT_EQ(marks.at(3 * kMarkSpacing)->position, 300u);
    EXPECT_EQ(marks.at(INT64_MAX)->ns, 5 * kMarkSpacing);
}

TEST(CompletionMarks, TheNewestCompletionIsAlwaysAMark)
{
    CompletionMarks marks;
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        marks.add({i, static_cast<std::int64_t>(i)}); // all within one spacing
        ASSERT_EQ(marks.newest()->position, i);
    }
    EXPECT_EQ(marks.at(1)->position, 1u); // the first completion is also a mark
    EXPECT_EQ(marks.at(999)->position, 1u);
}

TEST(CompletionMarks, MarksReachBackFarEnoughForAnySpacingOfCompletions)
{
    for (const std::int64_t every :
         {kMarkSpacing / 20, kMarkSpacing / 3, kMarkSpacing * 2 / 3, kMarkSpacing}) {
        CompletionMarks marks;
        std::int64_t now = 0;
        for (std::uint64_t i = 1; now < 4 * CompletionMarks::kReach; ++i, now += every)
            marks.add({i, now});
        const auto found = marks.at(now - CompletionMarks::kReach);
        ASSERT_TRUE(found) << every;
        EXPECT_LE(now - CompletionMarks::kReach - found->ns, kMarkSpacing) << every;
        EXPECT_FALSE(marks.at(0)) << every;
    }
}

TEST(CompletionMarks, WithoutARateOnlyEarlierMarksAreUsed)
{
    CompletionMarks marks;
    marks.add({1000, kMarkSpacing});
    marks.add({2000, 2 * kMarkSpacing});
    EXPECT_EQ(marks.complete_at(kMarkSpacing - 1, 0), 0u);
    EXPECT_EQ(marks.complete_at(2 * kMarkSpacing - 1, 0), 1000u);
    EXPECT_EQ(marks.complete_at(2 * kMarkSpacing, 0), 2000u);
}

TEST(CompletionMarks, WithARateLaterMarksGiveACloserEstimate)
{
    CompletionMarks marks; // the marks are 10 ms apart
    marks.add({1000, kMarkSpacing});
    marks.add({2000, 2 * kMarkSpacing});
    EXPECT_EQ(marks.complete_at(15'000'000, 100e3), 1500u); // 5 ms before the later mark
    EXPECT_EQ(marks.complete_at(15'000'000, 400e3), 1000u); // at least the earlier mark
    EXPECT_EQ(marks.complete_at(5'000'000, 100e3), 500u);   // before the first mark
    EXPECT_EQ(marks.complete_at(-90'000'000, 100e3), 0u);   // earlier than any sample
}

} // namespace
