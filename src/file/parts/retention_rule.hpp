// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// The rule of keep=: which parts of recordings stay on the local disk. `text` is "all", "none",
/// "last:SIZE" or "last:TIME". Throws a usage Error for any other text.
class RetentionRule {
public:
    explicit RetentionRule(std::string text);

    const std::string& text() const noexcept { return text_; }
    bool all() const noexcept { return all_; }
    bool none() const noexcept { return none_; }
    /// SIZE of "last:SIZE", in bytes.
    std::optional<std::uint64_t> bytes() const noexcept { return bytes_; }
    /// TIME of "last:TIME", in nanoseconds.
    std::optional<std::int64_t> nanoseconds() const noexcept { return nanoseconds_; }
    /// The least total size of the parts that stay, in bytes; kUnknown: all parts stay.
    std::uint64_t left() const noexcept { return all_ ? kUnknown : bytes_.value_or(0); }
    /// Whether a part may be removed. `bytes`: size of the part and all newer ones; `age_ns`: age
    /// of its last sample.
    bool is_expired(std::uint64_t bytes, std::int64_t age_ns) const noexcept;

private:
    std::string text_;
    bool all_ = false, none_ = false;
    std::optional<std::uint64_t> bytes_;
    std::optional<std::int64_t> nanoseconds_;
};

constexpr std::uint64_t kPartsOnDisk = 3; ///< the previous, the current and the next part

/// The greatest number of bytes on the disk if `left` bytes of older parts stay; kUnknown: no
/// limit.
std::uint64_t most_on_disk(std::uint64_t left, std::uint64_t part_bytes) noexcept;

} // namespace iio_stream::file
