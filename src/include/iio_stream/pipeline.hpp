// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace iio_stream {

/// How lost samples are handled. `mark`: the next block reports where and how many are lost.
/// `stop`: the stream ends before the first certain loss. `zero_fill`: zeros replace the lost
/// samples.
enum class OnGap { mark, stop, zero_fill };

/// How a block is handled if a Reader has no room for it because the caller keeps all other blocks.
/// `block`: the source waits (a device then loses samples and reports the loss). `drop`: the block
/// is dropped and counted.
enum class OnFull { block, drop };

/// One stream: where samples come from, where they go, and how many. Zero means "the default" or
/// "no limit".
///
///     PipelineConfig config{.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000};
///
/// An endpoint is a URI, "scheme:rest?option=value&option=value", or the path of a file.
struct PipelineConfig {
    Uri source = {};             ///< for a Writer: only a name for messages
    std::vector<Uri> sinks = {}; ///< for a Reader: the sinks get the same blocks as the caller
    /// Size of a block in bytes; default: about 10 ms of samples, 64 KiB to 4 MiB, but no more than
    /// `samples` or `bytes` need.
    std::size_t block_size = 0;
    /// Blocks in the pool; default: 250 ms of samples, 8 to 64 blocks, but no more than `samples`
    /// or `bytes` need.
    std::size_t blocks = 0;
    /// The length of the stream; the first limit that is reached ends it.
    std::uint64_t samples = 0, bytes = 0;
    std::chrono::nanoseconds duration{0};
    /// Longest wait for a block; default: 2 block times + 1 s, or 5 s if the rate is unknown, and
    /// no limit for a pipe as the source.
    std::chrono::nanoseconds timeout{0};
    OnGap on_gap = OnGap::mark;
    OnFull on_full = OnFull::block; ///< only for a Reader
};

namespace detail {
class Engine;
class SinkLink;
} // namespace detail

/// Moves blocks by reference from one source to its sinks. It belongs to the Session that creates
/// it.
/// Owns: the endpoints, the memory and the source thread, for the lifetime of the Session. Thread:
/// stats(), take_events(), free_space_left() and request_stop() on any thread; everything else on
/// the thread of the Session.
class IIO_STREAM_API Pipeline {
public:
    Pipeline(Pipeline&&) noexcept;
    ~Pipeline();

    const Format& format() const noexcept; ///< format of the source's samples
    const std::vector<Hop>&
    route() const noexcept; ///< how samples get to each sink; valid after prepare()
    Stats stats() const;    ///< the counters at this moment
    /// Returns the events since the last call, in order of time. Call it a few times a second, and
    /// once after the stream has ended. Events before start() are discarded.
    std::vector<Event> take_events();
    Summary summary() const; ///< all results of the stream; valid once it has ended
    bool ended() const noexcept;
    /// Whether a sink repeats its samples after the source has ended (cyclic=on).
    bool repeats() const noexcept;
    /// Returns the bytes that each sink can still store, in the order of stats().sinks; kUnknown:
    /// no limit is known. Queries the file systems.
    std::vector<std::uint64_t> free_space_left() const;
    /// Requests the end of the pipeline, at any time while it runs, and does not wait for it.
    void request_stop(Stop how = Stop::drain) noexcept;

private:
    friend class Session;
    explicit Pipeline(std::unique_ptr<detail::Engine> engine);
    std::unique_ptr<detail::Engine> engine_;
};

} // namespace iio_stream
