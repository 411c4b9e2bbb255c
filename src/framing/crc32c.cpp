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

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint32_t kPolynomial = 0x82f63b78; // bits reflected

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

std::uint32_t add_byte(std::uint32_t crc, std::byte b) noexcept
{
    return (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(b)) & 0xff];
}

std::uint64_t word_at(const std::byte* at) noexcept
{
    std::uint64_t word;
    std::memcpy(&word, at, kWord);
    return le64toh(word);
}

std::uint32_t add_by_tables(std::uint32_t crc, std::uint64_t word) noexcept
{
    word ^= crc;
    crc = 0;
    for (std::size_t n = 0; n < kWord; ++n)
        crc ^= kTables[kWord - 1 - n][(word >> (8 * n)) & 0xff];
    return crc;
}

#if defined(__x86_64__)

bool has_instruction() noexcept
{
    return __builtin_cpu_supports("sse4.2") != 0;
}

std::uint32_t add_by_instruction(std::uint32_t crc, std::uint64_t word) noexcept
{
    std::uint64_t wide = crc;
    asm("crc32q %1, %0" : "+r"(wide) : "r"(word));
    return static_cast<std::uint32_t>(wide);
}

#elif defined(__aarch64__)

bool has_instruction() noexcept
{
    return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

std::uint32_t add_by_instruction(std::uint32_t crc, std::uint64_t word) noexcept
{
    asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    return crc;
}

#else

bool has_instruction() noexcept
{
    return false;
}

std::uint32_t add_by_instruction(std::uint32_t crc, std::uint64_t word) noexcept
{
    return add_by_tables(crc, word);
}

#endif

template <typename Add>
std::uint32_t crc_of(std::span<const std::byte> bytes, Add add) noexcept
{
    std::uint32_t crc = 0xffffffff;
    for (; bytes.size() >= kWord; bytes = bytes.subspan(kWord))
        crc = add(crc, word_at(bytes.data()));
    for (const std::byte b : bytes)
        crc = add_byte(crc, b);
    return ~crc;
}

} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept
{
    static const bool by_instruction = has_instruction();
    if (!by_instruction)
        return crc32c_by_tables(bytes);
    return crc_of(
        bytes, [](std::uint32_t crc, std::uint64_t word) { return add_by_instruction(crc, word); });
}

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes) noexcept
{
    return crc_of(bytes,
                  [](std::uint32_t crc, std::uint64_t word) { return add_by_tables(crc, word); });
}

} // namespace iio_stream::framing
