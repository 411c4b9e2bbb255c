// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iio_stream::file {

/// Whether a hash that was computed is the one that metadata state, in digits of either case.
bool same_hash(std::string_view found, std::string_view said) noexcept;

/// The SHA-512 of a file in hexadecimal; nullopt if `cancel` (-1: none) became readable first.
/// `bytes`, if given, counts what was read. Throws a storage Error.
std::optional<std::string> sha512_of_file(const std::string& path, int cancel = -1,
                                          std::atomic<std::uint64_t>* bytes = nullptr);

} // namespace iio_stream::file
