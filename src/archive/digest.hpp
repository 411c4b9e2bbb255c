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

/// The SHA-256 of bytes that come one after the other.
class Sha256Sum {
public:
    Sha256Sum();
    ~Sha256Sum();
    void add(std::span<const std::byte> bytes);
    Sha256 finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace iio_stream::archive
