// SPDX-License-Identifier: MIT
#pragma once

#include "file/io/data_layout.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace iio_stream::file {

/// Computes SHA-512 incrementally, with libcrypto, or with libmd if built with WITH_OPENSSL=OFF.
class Sha512 {
public:
    Sha512();
    ~Sha512();
    void add(std::span<const std::byte> bytes);
    std::string finish(); ///< in hexadecimal digits; call once

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Whether a computed hash equals the hash in metadata, which may have digits of either case.
bool same_hash(std::string_view found, std::string_view said) noexcept;

/// The SHA-512 of a file, or of a part of it, in hexadecimal; nullopt if `cancel` (-1: none)
/// becomes readable first. `bytes`, if given, counts the bytes read. Throws a storage Error.
std::optional<std::string> sha512_of_file(const std::string& path, int cancel = -1,
                                          std::atomic<std::uint64_t>* bytes = nullptr,
                                          ByteRange range = {0, UINT64_MAX});

} // namespace iio_stream::file
