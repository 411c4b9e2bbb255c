// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

enum class OnGap { mark, stop, zero_fill };

/// One source, its sinks, and how long; zeros mean "the default" or "without limit".
struct PipelineConfig {
    std::string source;
    std::vector<std::string> sinks = {};
    std::size_t block_size = 0; ///< default: about 10 ms, 64 KiB to 4 MiB
    std::size_t block_count = 0; ///< default: 250 ms of blocks, 8 to 64
    std::uint64_t samples = 0, bytes = 0;
    std::chrono::nanoseconds duration{0};
    /// Longest wait for a block; default 2 block times + 1 s, 5 s where the rate is unknown.
    std::chrono::nanoseconds timeout{0};
    OnGap on_gap = OnGap::mark;
};

namespace detail {
class Engine;
class SinkWorker;
} // namespace detail

/// Moves blocks from one source to its sinks, by reference; a member of a Session.
/// Thread: stats(), room() and request_stop() from any; the rest through the Session.
class IIO_STREAM_API Pipeline {
public:
    Pipeline(Pipeline&&) noexcept;
    ~Pipeline();

    const Format& format() const noexcept;
    const std::vector<Hop>& route() const noexcept; ///< once prepared
    Stats stats() const;
    Summary summary() const; ///< once ended
    bool ended() const noexcept;
    /// Some sink goes on with what it was given when the source has no more (cyclic=on).
    bool repeats() const noexcept;
    /// Bytes that each sink's place can still take, in the order of stats().sinks; kUnknown = no
    /// limit is known. Asks the file systems.
    std::vector<std::uint64_t> room() const;
    /// Asks for the end of this one, at any time while it runs.
    void request_stop(Stop how = Stop::drain) noexcept;

private:
    friend class Session;
    explicit Pipeline(std::unique_ptr<detail::Engine> engine);
    std::unique_ptr<detail::Engine> engine_;
};

/// Pipelines that are prepared, then started together, and end together.
/// Owns: its pipelines and their threads. Thread: one, but for request_stop().
/// Throws: Error from add() (usage), prepare() and start(); what fails later stands in the
/// summaries. After an end it can be prepared and started again.
class IIO_STREAM_API Session {
public:
    Session();
    ~Session();

    std::size_t add(const PipelineConfig& config);
    /// With a source or sinks of the caller's own making, called by the names that stand in
    /// `config`; an empty pointer is the endpoint of that address, made here.
    std::size_t add(const PipelineConfig& config, std::unique_ptr<Source> source,
                    std::vector<std::unique_ptr<Sink>> sinks);

    void prepare(); ///< before each start()
    void start();
    /// True when all pipelines have ended, false after `budget`. Where one fails, or a stop is
    /// requested, the others are stopped.
    bool wait(std::chrono::nanoseconds budget);
    /// Ends the streams: what is in the sinks' hands reaches its place (until the deadline), what
    /// the sources have not delivered is dropped.
    void stop(Stop how = Stop::drain);
    /// Asks for stop(Stop::drain); from any thread or a signal handler.
    void request_stop() noexcept;

    std::size_t size() const noexcept;
    Pipeline& operator[](std::size_t index) noexcept;

private:
    void enable();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
