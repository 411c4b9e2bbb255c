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

/// Takes samples from the caller to config.sinks; config.source is only a name.
///
///     Writer tx({.sinks = {"iio:cf-ad9361-dds-core-lpc?convert=ci16_le"}},
///     Format::parse("cf32_le")); std::vector<std::complex<float>> tone = …; tx.write(tone);
///     tx.close();
///
/// Or without a copy: take() a block, fill it through EmptyBlock::as(), put() it.
/// The constructor prepares the stream. It starts with the first write() or take(), or earlier with
/// start(). Owns: the pipeline. Throws: Error, from the constructor, start(), take(), put() and
/// write(): the one that ended the stream, or usage. Blocks: only take(), write() and close();
/// start() if a sink waits for its peer. Thread: one at a time; stop(), stats() and fd() on any
/// thread at any time.
class IIO_STREAM_API Writer {
public:
    /// `format` is what you will write. format.sample_rate says how fast the sinks are to play it.
    Writer(PipelineConfig config, Format format);
    Writer(Writer&&) noexcept;
    ~Writer(); ///< ends the stream; samples close() did not wait for may be lost

    /// Starts the stream now; also restarts one that has ended. In a Session, starts all of its
    /// streams.
    void start();
    /// An empty block to fill; none if none came back in time, or if the stream has ended. Throws
    /// the error that ended the stream, and ENOBUFS if none can come because the caller keeps them
    /// all.
    Next<EmptyBlock> take(std::chrono::nanoseconds budget = kForever);
    /// Sends its first `samples` to the sinks, by default as many as it has room for. Takes only
    /// blocks of this stream; 0 just returns the block.
    void put(EmptyBlock block, std::optional<std::size_t> samples = std::nullopt);
    /// Copies samples into blocks and sends the full ones; returns how many bytes it found room for
    /// in time. The rest of a block goes with the next write(), flush(), end() or close().
    std::size_t write(std::span<const std::byte> samples,
                      std::chrono::nanoseconds budget = kForever);
    /// The same for a vector, array or span of the format's own type, std::complex<float> for
    /// "cf32_le"; returns the number of elements. Throws a usage Error for another type: nothing is
    /// converted here (the sink's convert= does that).
    template <std::ranges::contiguous_range Range>
    requires SampleType<std::ranges::range_value_t<Range>> std::size_t
    write(const Range& samples, std::chrono::nanoseconds budget = kForever)
    {
        using T = std::ranges::range_value_t<Range>;
        detail::check_type(format(), detail::type_of<T>());
        return write(std::as_bytes(std::span(samples)), budget) / sizeof(T);
    }
    void flush(); ///< sends the block that write() has begun to fill
    /// No more samples will be put; take() and put() are usage errors until the next start().
    /// A sink with cyclic=on repeats what it was given, until close() or stop().
    void end();
    bool
    ended() const noexcept; ///< the stream takes no more blocks, and take() or put() has said so
    void stop() noexcept;   ///< ends the stream; samples put last may be lost
    /// end(), then waits until all samples have reached their destination and every endpoint is
    /// closed; a file is created even if nothing was written. The error that ended the stream is in
    /// the summary, not thrown.
    Summary close();

    /// Readable when take() has something to return; for poll(), after take() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept;              ///< blocks the caller keeps
    std::size_t block_size() const noexcept;        ///< bytes of a block
    std::size_t block_count() const noexcept;       ///< blocks in the pool
    const Format& format() const noexcept;          ///< of the samples written
    const std::vector<Hop>& route() const noexcept; ///< how samples get to the sinks
    Stats stats() const;                            ///< the counters at this moment

private:
    friend class Session;
    Writer(PipelineConfig config, Format format, Session* session);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
