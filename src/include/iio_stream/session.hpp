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

/// A group of streams that are prepared, started and ended together: receive and transmit, or
/// several radios. A stream runs between endpoints (add()), or the caller is one of its ends
/// (add_reader(), add_writer()).
///
///     Session session;
///     Reader& rx = session.add_reader({.source = "iio:cf-ad9361-lpc"});
///     Writer& tx = session.add_writer({.sinks = {"iio:cf-ad9361-dds-core-lpc"}}, rx.format());
///     session.start();
///
/// Owns: its pipelines with their threads, and its readers and writers. References to them are
/// valid until the Session is destroyed. Blocks from a reader can outlive the reader and the
/// Session. Throws: Error from add…() (usage, or like prepare()), prepare() and start(). Later
/// failures are reported in the summaries, and the affected reader or writer throws them. Thread:
/// one at a time for the Session; each reader and writer can be used on its own thread.
/// request_stop() can be called on any thread or in a signal handler.
class IIO_STREAM_API Session {
public:
    Session();
    Session(const Session&) = delete;
    ~Session(); ///< ends the streams; samples still in the sinks can be lost

    /// Adds a pipeline between endpoints and returns its index. Call it only while the Session is
    /// not running.
    std::size_t add(const PipelineConfig& config);
    /// The same with your own source or sinks. Messages refer to them by their addresses in
    /// `config`. For each null pointer, the endpoint with that address is opened.
    std::size_t add(const PipelineConfig& config, std::unique_ptr<Source> source,
                    std::vector<std::unique_ptr<Sink>> sinks);
    /// Adds a stream whose blocks the caller takes. It is prepared at once, so that its format is
    /// known.
    Reader& add_reader(PipelineConfig config);
    /// Adds a stream whose blocks the caller fills with samples of `format`. It is prepared at
    /// once.
    Writer& add_writer(PipelineConfig config, Format format);

    /// Does everything that can fail or take time, for the streams that are not prepared yet. If it
    /// is not called, start() does this.
    void prepare();
    /// Starts all streams. Between the starts of the first source and the last, it only enables
    /// devices. It also restarts the streams after all have ended, and does nothing while any of
    /// them runs.
    void start();
    /// Waits up to `budget`; returns true if all pipelines have ended. If a pipeline fails or a
    /// stop is requested, wait() stops all pipelines with Stop::drain.
    bool wait(std::chrono::nanoseconds budget = kForever);
    /// Ends the streams and waits until they have ended. With Stop::drain, samples that have
    /// already arrived still reach their destination, unless the deadline passes first. With
    /// Stop::abort, they can be lost.
    void stop(Stop how = Stop::drain);
    /// Requests stop(Stop::drain). It can be called on any thread or in a signal handler.
    void request_stop() noexcept;

    std::size_t size() const noexcept; ///< number of pipelines, including those of readers and
                                       ///< writers
    /// The pipelines are in the order in which they were added. The reference is valid until the
    /// next add…().
    Pipeline& operator[](std::size_t index) noexcept;

private:
    friend struct detail::UserStream;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
