// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/pipeline.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/writer.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace iio_stream {

/// Streams that are prepared, then start together, and end together: receive and transmit, or several
/// radios. Some are between endpoints (add()), of others the caller is one end (add_reader(),
/// add_writer()).
///
///     Session session;
///     Reader& rx = session.add_reader({.source = "iio:cf-ad9361-lpc"});
///     Writer& tx = session.add_writer({.sinks = {"iio:cf-ad9361-dds-core-lpc"}}, rx.format());
///     session.start();
///
/// Owns: its pipelines with their threads, its readers and writers: a reference to one is good for as long
/// as the Session. Blocks that a reader gave outlive both.
/// Throws: Error from add…() (usage, or as prepare() does), prepare() and start(); what fails later stands
/// in the summaries, and a reader or writer throws it.
/// Thread: one for the Session; each reader and writer may have a thread of its own. request_stop() from
/// any thread or a signal handler.
class IIO_STREAM_API Session {
public:
    Session();
    Session(const Session&) = delete;
    ~Session(); ///< ends the streams; what the sinks still hold may be lost

    /// A pipeline between endpoints, while the Session does not run. Returns its index.
    std::size_t add(const PipelineConfig& config);
    /// With a source or sinks of the caller's own making, called by the names that stand in
    /// `config`; an empty pointer is the endpoint of that address, made here.
    std::size_t add(const PipelineConfig& config, std::unique_ptr<Source> source,
                    std::vector<std::unique_ptr<Sink>> sinks);
    /// A stream whose blocks the caller takes. It is prepared at once, so that its format is known.
    Reader& add_reader(PipelineConfig config);
    /// A stream whose blocks the caller fills with samples of that format; prepared at once.
    Writer& add_writer(PipelineConfig config, Format format);

    /// Does all that can fail or take time, for what was not prepared yet; start() does so otherwise.
    void prepare();
    /// Starts all, with nothing but the enabling between the first source and the last. Also once more,
    /// when all have ended; nothing happens while some run.
    void start();
    /// True when all pipelines have ended, false after `budget`. Where one fails, or a stop is
    /// requested, the others are stopped.
    bool wait(std::chrono::nanoseconds budget = kForever);
    /// Ends the streams: what is in the sinks' hands reaches its place (until the deadline), what
    /// the sources have not delivered is dropped.
    void stop(Stop how = Stop::drain);
    /// Asks for stop(Stop::drain); from any thread or a signal handler.
    void request_stop() noexcept;

    std::size_t size() const noexcept; ///< pipelines, those of readers and writers included
    /// In the order of their adding. The reference is good until the next add…().
    Pipeline& operator[](std::size_t index) noexcept;

private:
    friend struct detail::UserStream;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
