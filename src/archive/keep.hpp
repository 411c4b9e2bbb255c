// SPDX-License-Identifier: MIT
#pragma once

#include "archive/seen.hpp"
#include "iio_stream/block.hpp"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

namespace iio_stream::archive {

/// Which stored recordings stay on the local disk: "all", "none", "last:SIZE" or "last:TIME" (by
/// the age of the metadata file). Throws a usage Error for anything else.
class KeepRule {
public:
    explicit KeepRule(const std::string& text);

    bool all() const noexcept { return all_; }
    /// Bytes of stored recordings that stay, at least; kUnknown: all.
    std::uint64_t left() const noexcept { return all_ ? kUnknown : bytes_.value_or(0); }
    /// Whether the oldest of `bytes` that are stored, closed at `seconds` (UTC since 1970), may go.
    bool may_go(std::uint64_t bytes, std::int64_t seconds) const;

private:
    bool all_ = false, none_ = false;
    std::optional<std::uint64_t> bytes_;
    std::optional<std::int64_t> nanoseconds_;
};

/// Recordings that the store has confirmed, oldest first, which go when the rule lets them.
class Kept {
public:
    explicit Kept(const std::string& rule) : rule_(rule) {}

    bool all() const noexcept { return rule_.all(); }
    /// One that is stored again takes its own place.
    void add(Seen meta, Seen data);
    /// Removes the oldest if it may go and is what was seen: its bytes, or nothing. Throws an
    /// Error, once for each, for a file that cannot be removed or that has changed.
    std::optional<std::uint64_t> remove();

private:
    struct Part {
        Seen meta, data;
    };

    KeepRule rule_;
    std::deque<Part> parts_;
    std::uint64_t gone_ = 0; ///< how many were before them
    std::unordered_map<std::string, std::uint64_t>
        places_;              ///< of each metadata, those that are gone counted
    std::uint64_t bytes_ = 0; ///< of all of them
};

} // namespace iio_stream::archive
