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

/// How lost samples show up. `mark`: the next block says where and how many. `stop`: the stream
/// ends before a certain loss. `zero_fill`: zeros take their place.
enum class OnGap { mark, stop, zero_fill };

/// What happens to a block a Reader has no room for, because the caller keeps all others. `block`:
/// the source waits (a device then loses samples, and reports it). `drop`: the block is dropped and
/// counted.
enum class OnFull { block, drop };

/// One stream: where samples come from, where they go, and how many. Zero means "the default" or
/// "no limit".
///
///     PipelineConfig config{.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000};
///
/// An endpoint is a URI, "scheme:rest?option=value&option=value", or the path of a file.
struct PipelineConfig {
    Uri source = {};             ///< for a Writer: only a name, for messages
    std::vector<Uri> sinks = {}; ///< for a Reader: they get the same blocks as the caller
    /// Size of a block in bytes; default: about 10 ms of samples, 64 KiB to 4 MiB.
    std::size_t block_size = 0;
    /// Blocks in the pool; default: 250 ms worth, 8 to 64.
    std::size_t blocks = 0;
    /// How much to stream; the first limit reached ends the stream.
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

/// Moves blocks by reference from one source to its sinks. Part of a Session, which creates it.
/// Owns: the endpoints, the memory and the source thread, as long as the Session lives.
/// Thread: stats(), take_events(), free_space_left() and request_stop() on any; the rest through
/// the Session.
class IIO_STREAM_API Pipeline {
public:
    Pipeline(Pipeline&&) noexcept;
    ~Pipeline();

    const Format& format() const noexcept; ///< of the source's samples
    const std::vector<Hop>&
    route() const noexcept; ///< how samples get to each sink; valid after prepare()
    Stats stats() const;    ///< the counters at this moment
    /// What has happened since the last call, in the order of time: call it a few times a second,
    /// and once the stream has ended. What happened before start() is forgotten.
    std::vector<Event> take_events();
    Summary summary() const; ///< everything known about the stream; valid once it has ended
    bool ended() const noexcept;
    /// A sink repeats what it was given when the source has no more (cyclic=on).
    bool repeats() const noexcept;
    /// Bytes each sink can still take, in the order of stats().sinks; kUnknown: no limit is known.
    /// Queries the file systems.
    std::vector<std::uint64_t> free_space_left() const;
    /// Asks the pipeline to end, at any time while it runs; does not wait for it.
    void request_stop(Stop how = Stop::drain) noexcept;

private:
    friend class Session;
    explicit Pipeline(std::unique_ptr<detail::Engine> engine);
    std::unique_ptr<detail::Engine> engine_;
};

} // namespace iio_stream
