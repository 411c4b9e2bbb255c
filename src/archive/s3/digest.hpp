// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace iio_stream::archive {

using Md5 = std::array<unsigned char, 16>;
using Sha256 = std::array<unsigned char, 32>;

Md5 md5_of(std::span<const std::byte> bytes);
Sha256 sha256_of(std::span<const std::byte> bytes);
std::string base64(std::span<const unsigned char> bytes);

/// Computes the digest of bytes that arrive piece by piece.
template <typename Digest>
class DigestSum {
public:
    DigestSum();
    ~DigestSum();
    void add(std::span<const std::byte> bytes);
    Digest finish(); ///< of the bytes since the last finish()

private:
    struct State;
    std::unique_ptr<State> state_;
};
using Md5Sum = DigestSum<Md5>;
using Sha256Sum = DigestSum<Sha256>;

} // namespace iio_stream::archive
