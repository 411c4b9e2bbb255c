// SPDX-License-Identifier: MIT
#include "archive/push/retention.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::archive;
using namespace iio_stream::test;

constexpr std::int64_t kHourNs = 3'600'000'000'000;

void add(RetentionQueue& queue, const TempDir& dir, const std::string& name, std::size_t bytes,
         const PartTime& time)
{
    write_text(dir / name + ".sigmf-meta", "{}");
    write_text(dir / name + ".sigmf-data", std::string(bytes, '0'));
    queue.add(FileIdentity(dir / name + ".sigmf-meta"), FileIdentity(dir / name + ".sigmf-data"),
              time);
}

bool is_there(const TempDir& dir, const std::string& name)
{
    return std::filesystem::exists(dir / name + ".sigmf-meta");
}

std::int64_t now_ns()
{
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

TEST(RetentionQueue, APartThatIsStoredAgainCountsOnce)
{
    const TempDir dir;
    RetentionQueue queue("last:250");
    add(queue, dir, "a", 100, {"a", 0, 0, 1});
    add(queue, dir, "b", 100, {"b", 0, 0, 2});
    add(queue, dir, "b", 120, {"b", 0, 0, 2});
    EXPECT_EQ(queue.remove(), std::nullopt); // 220 bytes
    add(queue, dir, "c", 100, {"c", 0, 0, 3});
    EXPECT_EQ(queue.remove(), 100u); // 320 bytes
    EXPECT_FALSE(std::filesystem::exists(dir / "a.sigmf-data"));
    EXPECT_EQ(queue.remove(), std::nullopt);
    add(queue, dir, "b", 140, {"b", 0, 0, 2});
    add(queue, dir, "d", 100, {"d", 0, 0, 4});
    EXPECT_EQ(queue.remove(), 140u); // 340 bytes before
    EXPECT_EQ(queue.remove(), std::nullopt);
}

TEST(RetentionQueue, TheOldestPartIsRemovedFirstWhateverItsName)
{
    const TempDir dir;
    RetentionQueue queue("last:150");
    add(queue, dir, "a", 100, {"a", 0, 0, 3});
    add(queue, dir, "b", 100, {"b", 0, 0, 1});
    add(queue, dir, "c", 100, {"c", 0, 0, 2});
    EXPECT_EQ(queue.remove(), 100u);
    EXPECT_FALSE(is_there(dir, "b"));
    EXPECT_EQ(queue.remove(), 100u);
    EXPECT_FALSE(is_there(dir, "c"));
    EXPECT_EQ(queue.remove(), std::nullopt);
    EXPECT_TRUE(is_there(dir, "a"));
}

TEST(RetentionQueue, PartsOlderThanARemovedPartAreAlsoRemoved)
{
    const TempDir dir;
    RetentionQueue queue("last:150");
    add(queue, dir, "a", 100, {"a", 0, 0, 3});
    add(queue, dir, "b", 100, {"b", 0, 0, 2});
    EXPECT_EQ(queue.remove(), 100u);
    add(queue, dir, "c", 10, {"c", 0, 0, 1}); // there is room for this part
    EXPECT_EQ(queue.remove(), 10u);
    EXPECT_EQ(queue.remove(), std::nullopt);
    EXPECT_TRUE(is_there(dir, "a"));
}

TEST(RetentionQueue, PartsRecordedAfterAClockWasSetBackAreNewer)
{
    const TempDir dir;
    RetentionQueue queue("last:150");
    add(queue, dir, "r.9999", 100, {"r", 1000, 9999, 5 * kHourNs});
    add(queue, dir, "r.10001", 100, {"r", 3000, 10001, 2 * kHourNs});
    add(queue, dir, "r.10000", 100, {"r", 2000, 10000, kHourNs});
    EXPECT_EQ(queue.remove(), 100u);
    EXPECT_FALSE(is_there(dir, "r.9999"));
    EXPECT_EQ(queue.remove(), 100u);
    EXPECT_FALSE(is_there(dir, "r.10000"));
    EXPECT_EQ(queue.remove(), std::nullopt);
    EXPECT_TRUE(is_there(dir, "r.10001"));
}

TEST(RetentionQueue, TheAgeIsMeasuredFromTheLastSampleAndNotFromTheFile)
{
    const TempDir dir;
    RetentionQueue queue("last:1h");
    add(queue, dir, "a", 100, {"a", 0, 0, now_ns() - kHourNs / 2});
    add(queue, dir, "b", 100, {"b", 0, 0, now_ns() - 2 * kHourNs});
    EXPECT_EQ(queue.remove(), 100u);
    EXPECT_FALSE(is_there(dir, "b"));
    EXPECT_EQ(queue.remove(), std::nullopt);
}

} // namespace
