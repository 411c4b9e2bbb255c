// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace iio_stream::detail {

/// Whether a board or peer is there, and how often it was not. Thread: one that tells; any that
/// asks.
class Presence {
public:
    void gone() noexcept { changes_ = changes_ | 1; }
    void back() noexcept { changes_ = (changes_ + 1) & ~std::uint64_t{1}; }
    /// How often it has gone and come back, added up: odd while it is away.
    std::uint64_t changes() const noexcept { return changes_; }

private:
    std::atomic<std::uint64_t> changes_{0};
};

} // namespace iio_stream::detail
