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

/// Streams that are prepared, then start and end together: receive and transmit, or several radios.
/// Some run between endpoints (add()); in others the caller is one end (add_reader(),
/// add_writer()).
///
///     Session session;
///     Reader& rx = session.add_reader({.source = "iio:cf-ad9361-lpc"});
///     Writer& tx = session.add_writer({.sinks = {"iio:cf-ad9361-dds-core-lpc"}}, rx.format());
///     session.start();
///
/// Owns: its pipelines with their threads, its readers and writers: references to them are valid as
/// long as the Session. Blocks from a reader outlive both. Throws: Error from add…() (usage, or
/// like prepare()), prepare() and start(). Later failures are in the summaries, and thrown by the
/// reader or writer concerned. Thread: one for the Session; each reader and writer may have its
/// own. request_stop() on any thread or in a signal handler.
class IIO_STREAM_API Session {
public:
    Session();
    Session(const Session&) = delete;
    ~Session(); ///< ends the streams; samples still in the sinks may be lost

    /// A pipeline between endpoints, while the Session does not run. Returns its index.
    std::size_t add(const PipelineConfig& config);
    /// The same with your own source or sinks, known by the names in `config`; for an empty pointer
    /// the endpoint of that address is opened.
    std::size_t add(const PipelineConfig& config, std::unique_ptr<Source> source,
                    std::vector<std::unique_ptr<Sink>> sinks);
    /// A stream whose blocks the caller takes. Prepared at once, so that its format is known.
    Reader& add_reader(PipelineConfig config);
    /// A stream whose blocks the caller fills with samples of that format. Prepared at once.
    Writer& add_writer(PipelineConfig config, Format format);

    /// Does everything that can fail or take time, for streams not prepared yet; otherwise start()
    /// does.
    void prepare();
    /// Starts all streams, with nothing but enabling devices between the first source and the last.
    /// Also restarts them after all have ended; does nothing while some run.
    void start();
    /// True when all pipelines have ended, false after `budget`. If one fails, or a stop is
    /// requested, the others are stopped.
    bool wait(std::chrono::nanoseconds budget = kForever);
    /// Ends the streams: samples in the sinks reach their destination (until the deadline), samples
    /// not yet delivered by the sources are dropped.
    void stop(Stop how = Stop::drain);
    /// Asks for stop(Stop::drain); on any thread or in a signal handler.
    void request_stop() noexcept;

    std::size_t size() const noexcept; ///< number of pipelines, readers and writers included
    /// In the order they were added. The reference is valid until the next add…().
    Pipeline& operator[](std::size_t index) noexcept;

private:
    friend struct detail::UserStream;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
