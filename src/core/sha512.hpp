// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iio_stream::detail {

/// SHA-512 (FIPS 180-4) of bytes that come in pieces.
class Sha512 {
public:
    void add(std::span<const std::byte> bytes) noexcept;
    /// 128 hexadecimal digits; nothing can be added any more.
    std::string finish();

private:
    void block(const std::byte* in) noexcept;

    std::array<std::uint64_t, 8> state_{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                        0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                        0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    std::array<std::byte, 128> rest_{};
    std::size_t used_ = 0;    ///< bytes in rest_
    std::uint64_t bytes_ = 0; ///< all; a stream of 2^64 bytes is nobody's
};

} // namespace iio_stream::detail
