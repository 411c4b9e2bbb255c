// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/server.hpp"
#include "iio_stream/writer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace iio_stream::serve {

/// A DAC that a client plays.
/// Thread: `writer` is its client's, but for its stats(); the rest any.
struct PlaybackDevice {
    ServedPlayer shown; ///< but for its counters
    std::unique_ptr<Writer> writer;
    std::size_t buffer_bytes = 0;            ///< of the client's buffer
    std::size_t align = 1;                   ///< the device plays multiples of this many bytes
    std::atomic<std::uint64_t> received = 0; ///< samples

    /// What is wanted: its device, channels and whether it is cyclic are in shown. `blocks` of
    /// them, in `memory` bytes at most. Throws Error.
    void begin(std::uint64_t samples, std::size_t blocks, std::size_t memory);
    void drain() noexcept; ///< ends it, and lets it play for a second what it still has
    ServedPlayer stats() const;
};

} // namespace iio_stream::serve
