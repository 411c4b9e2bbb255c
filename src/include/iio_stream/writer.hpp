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

/// Sends the caller's samples to config.sinks; config.source is only a name.
///
///     const Format format = Format::parse("cf32_le");
///     Writer tx({.sinks = {"iio:cf-ad9361-dds-core-lpc?convert=ci16_le"}}, format);
///     std::vector<std::complex<float>> tone = …;
///     tx.write(tone);
///     tx.close();
///
/// To write without a copy, take() a block, fill it through EmptyBlock::as(), and put() it.
/// The constructor prepares the stream. It starts with the first write() or take(), or earlier with
/// start(). Owns: the pipeline. Throws: Error, from the constructor, start(), take(), put() and
/// write(): the error that ended the stream, or a usage error. Blocks: only take(), write() and
/// close() block, and start() if a sink waits for its peer. Thread: one at a time; stop(), stats()
/// and fd() can be called on any thread at any time.
class IIO_STREAM_API Writer {
public:
    /// `format` is the format of the samples that will be written. format.sample_rate is the rate
    /// at which the sinks play them.
    Writer(PipelineConfig config, Format format);
    Writer(Writer&&) noexcept;
    ~Writer(); ///< ends the stream; samples for which close() has not waited can be lost

    /// Starts the stream now; also restarts one that has ended. In a Session, starts all of its
    /// streams.
    void start();
    /// Returns an empty block to fill, or none if no block became free in time or the stream has
    /// ended. Throws the error that ended the stream, and ENOBUFS if no block can become free
    /// because the caller keeps all of them.
    Next<EmptyBlock> take(std::chrono::nanoseconds budget = kForever);
    /// Sends the first `samples` samples of the block to the sinks, by default as many as the block
    /// can hold. The block must belong to this stream. If `samples` is 0, the block is only
    /// returned.
    void put(EmptyBlock block, std::optional<std::size_t> samples = std::nullopt);
    /// Copies samples into blocks and sends the full blocks. Returns the number of bytes copied
    /// within `budget`. A partly filled block is sent when the next write() fills it, or by
    /// flush(), end() or close().
    std::size_t write(std::span<const std::byte> samples,
                      std::chrono::nanoseconds budget = kForever);
    /// The same for a vector, array or span of the format's own type, such as std::complex<float>
    /// for "cf32_le"; returns the number of elements. Throws a usage Error for another type,
    /// because write() does not convert samples (the sink's convert= does).
    template <std::ranges::contiguous_range Range>
    requires SampleType<std::ranges::range_value_t<Range>> std::size_t
    write(const Range& samples, std::chrono::nanoseconds budget = kForever)
    {
        using T = std::ranges::range_value_t<Range>;
        detail::check_type(format(), detail::type_of<T>());
        return write(std::as_bytes(std::span(samples)), budget) / sizeof(T);
    }
    void flush(); ///< sends the block that write() has partly filled
    /// Declares the end of the samples. Until the next start(), take() and put() are usage errors.
    /// A sink with cyclic=on repeats its samples until close() or stop().
    void end();
    bool ended() const noexcept; ///< the stream accepts no more blocks, and take() or put() has
                                 ///< reported this
    void stop() noexcept;        ///< ends the stream; the most recent samples can be lost
    /// Calls end(), then waits until all samples have reached their destination and every endpoint
    /// is closed. A file is created even if nothing was written. It does not throw the error that
    /// ended the stream; the error is in the summary.
    Summary close();

    /// Returns a file descriptor that is readable when take() can return a block or the end of the
    /// stream. Use it with poll() after take() has returned no block.
    int fd() const noexcept;
    std::size_t held() const noexcept;              ///< number of blocks that the caller keeps
    std::size_t block_size() const noexcept;        ///< bytes of a block
    std::size_t block_count() const noexcept;       ///< number of blocks in the pool
    const Format& format() const noexcept;          ///< format of the written samples
    const std::vector<Hop>& route() const noexcept; ///< how samples get to the sinks
    Stats stats() const;                            ///< the counters at this moment

private:
    friend class Session;
    Writer(PipelineConfig config, Format format, Session* session);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
