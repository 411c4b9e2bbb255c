// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/server.hpp"
#include "iio_stream/writer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace iio_stream::serve {

/// A DAC that a client plays to.
/// Thread: `writer` on the client's thread, except for its stats(); the rest any.
struct PlaybackDevice {
    ServedPlayer shown; ///< statistics, except for the counters, which stats() adds
    std::unique_ptr<Writer> writer;
    std::size_t buffer_bytes = 0;            ///< size of the client's buffer
    std::size_t align = 1;                   ///< the device plays multiples of this many bytes
    std::atomic<std::uint64_t> received = 0; ///< samples

    /// Opens the device and starts the stream. The caller must have set the device, the channels
    /// and the cyclic flag in `shown`. `samples` is the size of the client's buffer. The stream has
    /// `blocks` blocks, in `memory` bytes at most. Throws Error.
    void begin(std::uint64_t samples, std::size_t blocks, std::size_t memory);
    void drain() noexcept; ///< ends the stream; queued samples are played for up to a second
    ServedPlayer stats() const;
};

} // namespace iio_stream::serve
