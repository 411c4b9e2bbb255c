// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace iio_stream::framing {

/// Writes little-endian numbers one after another, as USB and the headers of blocks require.
class ByteWriter {
public:
    ByteWriter& u8(unsigned value) { return number(value, 1); }
    ByteWriter& u16(unsigned value) { return number(value, 2); }
    ByteWriter& u32(std::uint64_t value) { return number(value, 4); }
    ByteWriter& text(std::string_view text)
    {
        for (const char c : text)
            bytes_.push_back(static_cast<std::byte>(c));
        return *this;
    }
    ByteWriter& zeros(std::size_t count)
    {
        bytes_.resize(bytes_.size() + count);
        return *this;
    }
    ByteWriter& append(std::span<const std::byte> more)
    {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return *this;
    }
    std::size_t size() const noexcept { return bytes_.size(); }
    const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

private:
    ByteWriter& number(std::uint64_t value, unsigned size)
    {
        for (unsigned i = 0; i < size; ++i)
            bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
        return *this;
    }

    std::vector<std::byte> bytes_;
};

inline void put_number(std::byte* at, std::uint64_t value, unsigned size) noexcept
{
    for (unsigned i = 0; i < size; ++i)
        at[i] = static_cast<std::byte>(value >> (8 * i));
}

inline std::uint64_t get_number(const std::byte* at, unsigned size) noexcept
{
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<std::uint8_t>(at[i])} << (8 * i);
    return value;
}

} // namespace iio_stream::framing
