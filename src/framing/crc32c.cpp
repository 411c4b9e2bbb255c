// SPDX-License-Identifier: MIT
#include "framing/crc32c.hpp"

#include <array>
#include <cstring>
#include <endian.h>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace iio_stream::framing {

namespace {

using State = std::uint64_t; // the register of the CRC, in the lower 32 bits

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint32_t kPolynomial = 0x82f63b78; // bits reflected

// A processor starts one CRC instruction per cycle, but each takes about three. Hence three chains
// of instructions run side by side, each over this number of bytes, and their results are joined.
constexpr std::size_t kLane = 1024;

using Tables = std::array<std::array<std::uint32_t, 256>, kWord>;

// The n-th table is for a byte followed by n bytes of zeros.
constexpr Tables make_tables()
{
    Tables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0u);
        tables[0][i] = crc;
    }
    for (std::size_t n = 1; n < kWord; ++n)
        for (std::size_t i = 0; i < 256; ++i)
            tables[n][i] = (tables[n - 1][i] >> 8) ^ tables[0][tables[n - 1][i] & 0xff];
    return tables;
}

constexpr Tables kTables = make_tables();

using LaneTables = std::array<std::array<std::uint32_t, 256>, sizeof(std::uint32_t)>;

// The n-th table is for the n-th byte of a state followed by kLane bytes of zeros.
constexpr LaneTables make_lane_tables()
{
    LaneTables tables{};
    for (std::size_t bit = 0; bit < 32; ++bit) {
        std::uint32_t crc = std::uint32_t{1} << bit;
        for (std::size_t n = 0; n < kLane; ++n)
            crc = (crc >> 8) ^ kTables[0][crc & 0xff];
        for (std::size_t i = 0; i < 256; ++i)
            if ((i >> (bit % 8) & 1) != 0)
                tables[bit / 8][i] ^= crc;
    }
    return tables;
}

constexpr LaneTables kLaneTables = make_lane_tables();

State add_lane_of_zeros(State crc) noexcept
{
    std::uint32_t sum = 0;
    for (std::size_t n = 0; n < kLaneTables.size(); ++n)
        sum ^= kLaneTables[n][(crc >> (8 * n)) & 0xff];
    return sum;
}

State add_byte(State crc, std::byte b) noexcept
{
    return (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(b)) & 0xff];
}

std::uint64_t word_at(const std::byte* at) noexcept
{
    std::uint64_t word;
    std::memcpy(&word, at, kWord);
    return le64toh(word);
}

State add_by_tables(State crc, const std::byte* at) noexcept
{
    const std::uint64_t word = word_at(at) ^ crc;
    std::uint32_t sum = 0;
    for (std::size_t n = 0; n < kWord; ++n)
        sum ^= kTables[kWord - 1 - n][(word >> (8 * n)) & 0xff];
    return sum;
}

#if defined(__x86_64__)

bool has_instruction() noexcept
{
    return __builtin_cpu_supports("sse4.2") != 0;
}

State add_by_instruction(State crc, const std::byte* at) noexcept
{
    asm("crc32q %1, %0" : "+r"(crc) : "m"(*reinterpret_cast<const std::byte(*)[kWord]>(at)));
    return crc;
}

#elif defined(__aarch64__)

bool has_instruction() noexcept
{
    return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

State add_by_instruction(State crc, const std::byte* at) noexcept
{
    asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word_at(at)));
    return crc;
}

#else

bool has_instruction() noexcept
{
    return false;
}

State add_by_instruction(State crc, const std::byte* at) noexcept
{
    return add_by_tables(crc, at);
}

#endif

State add_three_lanes(State crc, const std::byte* at) noexcept
{
    constexpr std::size_t kStep = 8 * kWord;
    State second = 0, third = 0;
    for (const std::byte* const end = at + kLane; at != end; at += kStep)
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kStep; i += kWord) {
            crc = add_by_instruction(crc, at + i);
            second = add_by_instruction(second, at + kLane + i);
            third = add_by_instruction(third, at + 2 * kLane + i);
        }
    return add_lane_of_zeros(add_lane_of_zeros(crc) ^ second) ^ third;
}

// Adds the last bytes, with `add` for each word, and returns the CRC.
template <typename Add>
std::uint32_t end_of(State crc, std::span<const std::byte> bytes, Add add) noexcept
{
    for (; bytes.size() >= kWord; bytes = bytes.subspan(kWord))
        crc = add(crc, bytes.data());
    for (const std::byte b : bytes)
        crc = add_byte(crc, b);
    return ~static_cast<std::uint32_t>(crc);
}

constexpr State kFirst = 0xffffffff;

} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept
{
    static const bool by_instruction = has_instruction();
    if (!by_instruction)
        return crc32c_by_tables(bytes);
    State crc = kFirst;
    for (; bytes.size() >= 3 * kLane; bytes = bytes.subspan(3 * kLane))
        crc = add_three_lanes(crc, bytes.data());
    return end_of(crc, bytes,
                  [](State state, const std::byte* at) { return add_by_instruction(state, at); });
}

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) noexcept
{
    return end_of(kFirst, bytes,
                  [](State state, const std::byte* at) { return add_by_tables(state, at); });
}

} // namespace iio_stream::framing
