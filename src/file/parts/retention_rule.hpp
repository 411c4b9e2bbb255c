// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// keep=: which parts of recordings stay on the local disk: "all", "none", "last:SIZE" or
/// "last:TIME". Throws a usage Error for anything else.
class RetentionRule {
public:
    explicit RetentionRule(std::string text);

    const std::string& text() const noexcept { return text_; }
    bool all() const noexcept { return all_; }
    bool none() const noexcept { return none_; }
    /// SIZE, in bytes.
    std::optional<std::uint64_t> bytes() const noexcept { return bytes_; }
    /// TIME, in nanoseconds.
    std::optional<std::int64_t> nanoseconds() const noexcept { return nanoseconds_; }
    /// Bytes of parts that stay, at least; kUnknown: all.
    std::uint64_t left() const noexcept { return all_ ? kUnknown : bytes_.value_or(0); }
    /// Whether a part may be removed: it and all newer ones have `bytes`, and its last sample is
    /// `age_ns` old.
    bool is_expired(std::uint64_t bytes, std::int64_t age_ns) const noexcept;

private:
    std::string text_;
    bool all_ = false, none_ = false;
    std::optional<std::uint64_t> bytes_;
    std::optional<std::int64_t> nanoseconds_;
};

constexpr std::uint64_t kPartsOnDisk = 3; ///< being written, before it, and made ready after it

/// Bytes on the disk if `left` bytes of older parts stay there; kUnknown: all.
std::uint64_t most_on_disk(std::uint64_t left, std::uint64_t part_bytes) noexcept;

} // namespace iio_stream::file
