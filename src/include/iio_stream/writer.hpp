// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/pipeline.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/samples.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

namespace iio_stream {

/// Takes the caller's samples to sinks: config.sinks; config.source is only a name.
///
///     Writer tx({.sinks = {"iio:cf-ad9361-dds-core-lpc?convert=ci16_le"}}, Format::parse("cf32_le"));
///     std::vector<std::complex<float>> tone = …;
///     tx.write(tone);
///     tx.close();
///
/// Or without a copy: take() a block, fill it by EmptyBlock::as(), put() it.
/// The stream is prepared by the constructor and starts with the first write() or take(), or with start().
/// Owns: the pipeline. Throws: Error, from the constructor, start(), take(), put() and write(): the one that
/// ended the stream, or usage.
/// Blocks: only take(), write() and close(); start() where a sink waits for its peer.
/// Thread: one at a time; stop(), stats() and fd() at any time from any.
class IIO_STREAM_API Writer {
public:
    /// `format` is what will be written. With format.sample_rate sinks know how fast they are meant to play.
    Writer(PipelineConfig config, Format format);
    Writer(Writer&&) noexcept;
    ~Writer(); ///< ends the stream; what close() did not wait for may be lost

    /// Starts the stream now; also once more, when it has ended. In a Session all of them start.
    void start();
    /// An empty block to fill; none where none came back in time, or where the stream has ended. Throws the
    /// error that ended the stream, and ENOBUFS where none can come because the caller keeps all.
    Next<EmptyBlock> take(std::chrono::nanoseconds budget = kForever);
    /// The first `samples` of it, by default as many as it has room for, are off to the sinks. Only blocks of
    /// this stream; with 0 it just goes back.
    void put(EmptyBlock block, std::optional<std::size_t> samples = std::nullopt);
    /// Copies samples into blocks and puts the full ones; returns how many bytes it found room for in time.
    /// The rest of a block goes with the next write(), flush(), end() or close().
    std::size_t write(std::span<const std::byte> samples, std::chrono::nanoseconds budget = kForever);
    /// The same of a vector, array or span of the format's own type, std::complex<float> for "cf32_le"; counts
    /// its elements. Throws a usage Error for another type: nothing is converted here (convert= of the sink
    /// does that).
    template <std::ranges::contiguous_range Range>
        requires SampleType<std::ranges::range_value_t<Range>>
    std::size_t write(const Range& samples, std::chrono::nanoseconds budget = kForever)
    {
        using T = std::ranges::range_value_t<Range>;
        detail::check_type(format(), detail::type_of<T>());
        return write(std::as_bytes(std::span(samples)), budget) / sizeof(T);
    }
    void flush(); ///< sends the block that write() has begun to fill
    /// Nothing more will be put; take() and put() are usage errors from here to the next start().
    /// A sink with cyclic=on repeats what it was given, until close() or stop().
    void end();
    bool ended() const noexcept; ///< nothing is taken any more, and take() or put() has said so
    void stop() noexcept;        ///< ends the stream; what was put last may be lost
    /// end(), then waits until all that was put has reached its place and every end is closed; a file is made
    /// though nothing was written. The error that ended the stream stands in the summary and is not thrown.
    Summary close();

    /// Readable while take() has something to say; for poll(), once take() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< blocks that the caller keeps
    const Format& format() const noexcept; ///< of what is written
    const std::vector<Hop>& route() const noexcept; ///< how samples get to the sinks
    Stats stats() const; ///< the counters of this moment

private:
    friend class Session;
    Writer(PipelineConfig config, Format format, Session* session);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
