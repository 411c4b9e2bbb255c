// SPDX-License-Identifier: MIT
#include "core/base/utc.hpp"
#include "iio_stream/utc.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;

constexpr std::int64_t kSecond = 1'000'000'000;

// Seconds as printed by `date -u -d … +%s`.
TEST(Utc, DatesAndTimesAreParsed)
{
    EXPECT_EQ(parse_utc("time", "1970-01-01"), 0);
    EXPECT_EQ(parse_utc("time", "2026-11-26T23:00"), 1'795'734'000 * kSecond);
    EXPECT_EQ(parse_utc("time", "2026-11-26 23:00:01Z"), 1'795'734'001 * kSecond);
    EXPECT_EQ(parse_utc("time", "2026-11-26T23:00:01.25Z"), 1'795'734'001 * kSecond + kSecond / 4);
    EXPECT_EQ(parse_utc("time", "2026-11-26T23:00:01.1234567899Z"),
              1'795'734'001 * kSecond + 123'456'789);
    EXPECT_EQ(parse_utc("time", "2016-12-31T23:59:60Z"), parse_utc("time", "2017-01-01"));
    EXPECT_EQ(parse_utc("time", "2024-02-29T12"), 1'709'208'000 * kSecond);
    EXPECT_EQ(parse_utc("time", "1969-12-31T23:59:59.5Z"), -kSecond / 2);
}

TEST(Utc, InvalidTimesAreRefusedByName)
{
    for (const char* text :
         {"", "now", "2026", "2026-13-01", "2026-02-30", "2026-1-1", "2026-01-01T24:00",
          "2026-01-01T", "2026-01-01T10:60", "2026-01-01T10:00:61", "2026-01-01T10:00:00.",
          "2026-01-01T10:00Zx", "2026-01-01T10:00+01:00", "1677-12-31", "2262-01-01", "-026-01-01"})
        EXPECT_THROW(parse_utc("time", text), Error) << text;
    try {
        (void)parse_utc("time", "noon");
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_NE(std::string(error.what()).find("time=noon"), std::string::npos);
    }
}

TEST(Utc, PrintedTimesParseBackToTheSameValue)
{
    EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format_utc(1'795'734'001 * kSecond + kSecond / 2), "2026-11-26T23:00:01.5Z");
    for (const std::int64_t ns :
         {std::int64_t{-1}, std::int64_t{1}, std::int64_t{1'795'734'001'123'456'789}})
        EXPECT_EQ(parse_utc("time", format_utc(ns)), ns);
    EXPECT_EQ(format_utc(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(Utc, ExtraDigitsAreCutOff)
{
    EXPECT_EQ(detail::utc_text(0, 6), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(detail::utc_text(1'795'734'001'123'456'789, 6), "2026-11-26T23:00:01.123456Z");
    EXPECT_EQ(detail::utc_text(1'795'734'001'123'456'789, 9), "2026-11-26T23:00:01.123456789Z");
}

} // namespace
