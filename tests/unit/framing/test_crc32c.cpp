// SPDX-License-Identifier: MIT
// The CRC-32C, by the processor's instruction and by tables, compared with a bitwise one.
#include "framing/crc32c.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace iio_stream::framing;

using Data = std::span<const std::byte>;

/// Divides bit by bit, as the polynomial's definition does.
std::uint32_t bitwise(Data data)
{
    std::uint32_t crc = 0xffffffff;
    for (const std::byte b : data) {
        crc ^= static_cast<std::uint8_t>(b);
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    }
    return ~crc;
}

std::vector<std::byte> random_bytes(std::size_t count)
{
    std::vector<std::byte> bytes(count);
    std::minstd_rand random;
    for (std::byte& b : bytes)
        b = static_cast<std::byte>(random() >> 8);
    return bytes;
}

void expect_same(Data data)
{
    const std::uint32_t expected = bitwise(data);
    ASSERT_EQ(crc32c(data), expected) << data.size() << " bytes";
    ASSERT_EQ(crc32c_by_tables(data), expected) << data.size() << " bytes";
}

// The examples of RFC 3720 (iSCSI), appendix B.4, whose checksums are printed byte by byte.
TEST(Crc32c, TheExamplesOfTheIscsiStandardHaveTheirChecksums)
{
    std::vector<std::byte> up, down;
    for (unsigned i = 0; i < 32; ++i) {
        up.push_back(static_cast<std::byte>(i));
        down.push_back(static_cast<std::byte>(31 - i));
    }
    const std::vector<std::byte> zeros(32), ones(32, std::byte{0xff});
    const std::string_view digits = "123456789";
    for (const auto crc : {&crc32c, &crc32c_by_tables}) {
        EXPECT_EQ(crc(zeros), 0x8a9136aau);
        EXPECT_EQ(crc(ones), 0x62a8ab43u);
        EXPECT_EQ(crc(up), 0x46dd794eu);
        EXPECT_EQ(crc(down), 0x113fdb5cu);
        EXPECT_EQ(crc(std::as_bytes(std::span(digits))), 0xe3069283u);
        EXPECT_EQ(crc({}), 0u);
    }
}

TEST(Crc32c, EachShortLengthAtEachAlignmentIsComputed)
{
    const auto bytes = random_bytes(320);
    for (std::size_t begin = 0; begin < 16; ++begin)
        for (std::size_t length = 0; length <= 300; ++length)
            ASSERT_NO_FATAL_FAILURE(expect_same(Data(bytes).subspan(begin, length)));
}

// From 3072 bytes on, the instruction works on three parts side by side.
TEST(Crc32c, EachLengthAroundTheJoinedPartsIsComputed)
{
    const auto bytes = random_bytes(10'000);
    for (const std::size_t middle : {1024u, 2048u, 3072u, 4096u, 6144u, 9216u})
        for (std::size_t length = middle - 17; length <= middle + 17; ++length)
            for (const std::size_t begin : {0u, 1u, 7u})
                ASSERT_NO_FATAL_FAILURE(expect_same(Data(bytes).subspan(begin, length)));
}

TEST(Crc32c, AChangedByteAnywhereChangesTheChecksum)
{
    auto bytes = random_bytes(3 * 1024 + 100);
    const std::uint32_t before = crc32c(bytes);
    for (std::size_t i = 0; i < bytes.size(); i += 13) {
        bytes[i] ^= std::byte{0x40};
        ASSERT_NE(crc32c(bytes), before) << "byte " << i;
        ASSERT_NO_FATAL_FAILURE(expect_same(bytes));
        bytes[i] ^= std::byte{0x40};
    }
}

// zlib's CRC-32 has another polynomial. The value is that of the Python package crcmod 1.7:
// crcmod.predefined.mkCrcFun("crc-32c")(bytes(i * 7 % 256 for i in range(1 << 20))).
TEST(Crc32c, AnotherImplementationComputesTheSame)
{
    std::vector<std::byte> bytes(std::size_t{1} << 20);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i * 7 % 256);
    EXPECT_EQ(crc32c(bytes), 0x871701bfu);
    EXPECT_EQ(crc32c_by_tables(bytes), 0x871701bfu);
}

} // namespace
