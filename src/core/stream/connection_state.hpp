// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <atomic>
#include <cstdint>

namespace iio_stream::detail {

/// Tracks whether a peer is connected, and counts disconnects. The peer counts as connected at
/// first. Thread: lost() and restored() on one thread, state() on any.
class ConnectionState {
public:
    void lost() noexcept { changes_ = changes_ | 1; }
    void restored() noexcept { changes_ = (changes_ + 1) & ~std::uint64_t{1}; }
    LinkState state() const noexcept
    {
        const std::uint64_t changes = changes_;
        return {changes % 2 == 0, (changes + 1) / 2};
    }

private:
    std::atomic<std::uint64_t> changes_{
        0}; ///< disconnects plus reconnects in one value, so that both are read at once
};

} // namespace iio_stream::detail
