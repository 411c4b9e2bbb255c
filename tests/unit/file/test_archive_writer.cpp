// SPDX-License-Identifier: MIT
#include "file/sigmf/archive.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace {

using namespace iio_stream;
using namespace iio_stream::file;

/// POSIX.1-2001, "ustar Header Block": the checksum is the sum of the header's bytes, with spaces
/// in place of the checksum.
bool has_right_sum(std::string header)
{
    const unsigned long sum = std::stoul(header.substr(148, 6), nullptr, 8);
    header.replace(148, 8, "        ");
    return sum == std::accumulate(header.begin(), header.end(), 0UL, [](unsigned long n, char c) {
               return n + static_cast<unsigned char>(c);
           });
}

TEST(TarHeader, ASmallFileHasOneHeader)
{
    const std::string header = tar_header("a/a.sigmf-data", '0', 8589934591, 1);
    ASSERT_EQ(header.size(), 512u);
    EXPECT_EQ(header.substr(0, 15), std::string("a/a.sigmf-data\0", 15));
    EXPECT_EQ(header.substr(124, 12), std::string("77777777777\0", 12));
    EXPECT_EQ(header.substr(136, 12), std::string("00000000001\0", 12));
    EXPECT_EQ(header[156], '0');
    EXPECT_EQ(header.substr(257, 8), std::string("ustar\00000", 8));
    EXPECT_TRUE(has_right_sum(header));
}

TEST(TarHeader, TheSizeOfAFileOf8GiBIsInAnExtendedHeader)
{
    const std::string headers = tar_header("a/a.sigmf-data", '0', 8589934592, 1);
    ASSERT_EQ(headers.size(), 3 * 512u);
    EXPECT_EQ(headers[156], 'x');
    EXPECT_EQ(headers.substr(124, 11), "00000000023"); // 19 bytes
    EXPECT_EQ(headers.substr(512, 21), std::string("19 size=8589934592\n\0\0", 21));
    EXPECT_TRUE(has_right_sum(headers.substr(0, 512)) && has_right_sum(headers.substr(1024)));
    EXPECT_EQ(headers[1024 + 156], '0');
}

TEST(TarHeader, TheLengthOfARecordIncludesItsOwnDigits)
{
    // " path=" and the newline take 7 bytes. With a name of 91 bytes, the length needs a third
    // digit.
    const std::string longer = tar_header(std::string(101, 'n'), '0', 0, 1);
    EXPECT_EQ(longer.substr(512, 9), "111 path=");
    const std::string spaced = tar_header(std::string(90, ' '), '0', 0, 1);
    EXPECT_EQ(spaced.substr(512, 8), "99 path=");
    const std::string three = tar_header(std::string(91, ' '), '0', 0, 1);
    EXPECT_EQ(three.substr(512, 9), "101 path=");
}

} // namespace
