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

/// What becomes of lost samples. `mark`: the block that follows says where and how many. `stop`: the
/// stream ends before a certain loss. `zero_fill`: zeros take their place.
enum class OnGap { mark, stop, zero_fill };

/// What becomes of a block for which a Reader has no room, since the caller keeps the others. `block`: the
/// source has to wait (a device loses samples then, and says so). `drop`: the block is dropped and counted.
enum class OnFull { block, drop };

/// One stream: where samples come from, where they go, and how much is wanted. Zeros mean "the default" or
/// "without limit".
///
///     PipelineConfig config{.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000};
///
/// An endpoint is a URI, "scheme:rest?option=value&option=value", or the path of a file.
struct PipelineConfig {
    std::string source = {};             ///< of a Writer: only a name, for messages
    std::vector<std::string> sinks = {}; ///< of a Reader: those that get the same blocks as the caller
    /// Bytes of one block; default: about 10 ms of samples, 64 KiB to 4 MiB.
    std::size_t block_size = 0;
    /// Blocks in the pool; default: 250 ms of them, 8 to 64.
    std::size_t blocks = 0;
    /// How much is wanted; the first of these that is reached ends the stream.
    std::uint64_t samples = 0, bytes = 0;
    std::chrono::nanoseconds duration{0};
    /// Longest wait for a block; default: 2 block times + 1 s, 5 s where the rate is unknown.
    std::chrono::nanoseconds timeout{0};
    OnGap on_gap = OnGap::mark;
    OnFull on_full = OnFull::block;      ///< of a Reader
};

namespace detail {
class Engine;
class SinkWorker;
} // namespace detail

/// Moves blocks from one source to its sinks, by reference; a member of a Session, which makes it.
/// Owns: the endpoints, the memory and the source thread, until the Session is gone.
/// Thread: stats(), room() and request_stop() from any; the rest through the Session.
class IIO_STREAM_API Pipeline {
public:
    Pipeline(Pipeline&&) noexcept;
    ~Pipeline();

    const Format& format() const noexcept;          ///< of the source's samples
    const std::vector<Hop>& route() const noexcept; ///< how samples get to each sink; once prepared
    Stats stats() const;                            ///< the counters of this moment
    Summary summary() const;                        ///< everything that is known; once it has ended
    bool ended() const noexcept;
    /// Some sink goes on with what it was given when the source has no more (cyclic=on).
    bool repeats() const noexcept;
    /// Bytes that each sink's place can still take, in the order of stats().sinks; kUnknown = no
    /// limit is known. Asks the file systems.
    std::vector<std::uint64_t> room() const;
    /// Asks for the end of this one, at any time while it runs; does not wait for it.
    void request_stop(Stop how = Stop::drain) noexcept;

private:
    friend class Session;
    explicit Pipeline(std::unique_ptr<detail::Engine> engine);
    std::unique_ptr<detail::Engine> engine_;
};

} // namespace iio_stream
