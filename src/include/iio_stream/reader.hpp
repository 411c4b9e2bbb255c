// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/pipeline.hpp"
#include "iio_stream/samples.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace iio_stream {

class Session;
namespace detail {
struct UserStream;
} // namespace detail

/// A budget for next(), read(), take() and write() that means "no time limit".
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

/// The outcome of next() or take(): a block, no block within the time limit, or the end of the
/// stream.
enum class Outcome { block, timeout, ended };

/// A block, or the reason why there is none. It is an optional with a reason, so `if (auto block =
/// reader.next(1s))` tests for a block. To distinguish a timeout from the end of the stream, call
/// outcome():
///
///     switch (auto next = reader.next(100ms); next.outcome()) {
///     case Outcome::block: use(*next); break;
///     case Outcome::timeout: show_progress(); break;
///     case Outcome::ended: return;
///     }
template <typename B>
class Next : public std::optional<B> {
public:
    Next(B block) : std::optional<B>(std::move(block)) {}
    explicit Next(Outcome why) : why_(why) {}

    /// The outcome of the call; `block` if this object holds a block.
    Outcome outcome() const noexcept { return this->has_value() ? Outcome::block : why_; }
    /// Whether the time ran out; the stream continues.
    bool timed_out() const noexcept { return outcome() == Outcome::timeout; }
    /// Whether the stream has ended; no block arrives before the next start().
    bool ended() const noexcept { return outcome() == Outcome::ended; }

private:
    Outcome why_ = Outcome::block;
};

/// The result of read(). Losses are counted in samples of the stream.
struct ReadResult {
    std::size_t count = 0; ///< elements filled, at the front of the span
    std::uint64_t sample_index =
        0; ///< samples before the first one since the stream started, including lost ones
    bool index_exact = true; ///< false: sample_index is a lower bound
    std::uint64_t gaps =
        0; ///< places before or between these samples where samples are or may be lost
    std::uint64_t lost_min = 0,
                  lost_max = 0; ///< samples lost there; kUnknown in lost_max: no upper bound is
                                ///< known
    bool ended = false;         ///< the stream has ended, so fewer elements were filled
};

/// Gives the blocks of a source to the caller, one at a time. The sinks in config.sinks get the
/// same blocks.
///
///     Reader rx({.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000});
///     for (const Block& block : rx)
///         for (std::complex<std::int16_t> sample : block.as<std::complex<std::int16_t>>())
///             …
///
/// The constructor prepares the stream. It starts with the first next(), read() or iteration, or
/// earlier with start(). Owns: the pipeline. You can keep a block for any length of time, even
/// after the Reader is destroyed. Its buffer is not refilled while you keep it. Throws: Error, from
/// the constructor, start(), next() and read(): the request is invalid (Fault::usage), or a device
/// or file failed. Blocks: only next(), read(), run() and close() block, and start() if a sink
/// waits for its peer. Thread: one at a time; stop(), stats() and fd() can be called on any thread
/// at any time.
class IIO_STREAM_API Reader {
public:
    class Iterator;

    /// Opens config.source and prepares the stream: memory, route, tuning. No samples flow before
    /// the stream starts.
    explicit Reader(PipelineConfig config);
    Reader(Reader&&) noexcept; ///< the moved-from Reader can only be destroyed
    ~Reader();                 ///< ends the stream

    /// Starts the stream now; also restarts one that has ended. In a Session, starts all of its
    /// streams.
    void start();
    /// Returns the next block, or none if no block arrived in time or the stream has ended. After
    /// the last block, throws the error that ended the stream. Throws ENOBUFS if no block can
    /// arrive because the caller keeps all of them.
    Next<Block> next(std::chrono::nanoseconds budget = kForever);
    /// Fills a vector, array or span with the next samples, across blocks, and converts them: full
    /// scale is 1.0 of a float and 2^(bits-1) of an integer. A std::complex receives an I/Q pair,
    /// and a number receives the value of one channel; the values of several channels are
    /// interleaved. Fewer elements are filled if the time runs out or the stream ends. Throws like
    /// next(), and throws a usage Error if I/Q pairs are requested from a stream that has none.
    ///
    ///     std::vector<std::complex<float>> samples(1'000'000);
    ///     ReadResult got = rx.read(samples);
    template <std::ranges::contiguous_range Range>
    requires SampleType<std::ranges::range_value_t<Range>>
        ReadResult read(Range&& out, std::chrono::nanoseconds budget = kForever)
    {
        const std::span all(out);
        return read_as(detail::type_of<std::ranges::range_value_t<Range>>(),
                       std::as_writable_bytes(all), budget);
    }
    /// Calls `each` with every block, on the calling thread, until the stream ends, and then calls
    /// close(). Throws every exception that next() or `each` throws.
    Summary run(const std::function<void(const Block&)>& each);

    bool ended() const noexcept; ///< whether next() has returned the last block
    void stop() noexcept;        ///< ends the stream; blocks that have already arrived can still be
                                 ///< taken
    /// Ends the stream and waits until every endpoint is closed. It does not throw the error that
    /// ended the stream; the error is in the summary. Blocks kept by the caller stay valid. start()
    /// begins another stream.
    Summary close();

    /// Returns a file descriptor that is readable when next() can return a block or the end of the
    /// stream. Use it with poll() after next() has returned no block.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< number of blocks that the caller keeps
    std::size_t
    block_size() const noexcept; ///< bytes of a block; the last block of a stream can be smaller
    std::size_t block_count() const noexcept;       ///< number of blocks in the pool
    const Format& format() const noexcept;          ///< format of the blocks, after conversion
    const Tuning& tuning() const noexcept;          ///< tuning of the source when it was prepared
    const std::vector<Hop>& route() const noexcept; ///< how samples get into the blocks
    Stats stats() const;                            ///< the counters at this moment

    /// For range-for: iterates over the blocks until the stream ends. Each block is returned to the
    /// pool before the wait for the next one.
    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class Session; // creates Readers as its members
    Reader(PipelineConfig config, Session* session);
    /// Implements read() for a type that is given by its description.
    ReadResult read_as(const detail::Type& type, std::span<std::byte> out,
                       std::chrono::nanoseconds budget);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The iterator of `for (Block& block : reader)`. The loop runs until the stream ends. Each block
/// is returned to the pool before the wait for the next one.
class Reader::Iterator {
public:
    using value_type = Block;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Reader& reader) : reader_(&reader) { ++*this; }
    Block& operator*() noexcept { return *block_; }
    Iterator& operator++()
    {
        block_.reset(); // before the wait, because the source might need this block
        block_ = reader_->next();
        return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !block_; }

private:
    Reader* reader_;
    std::optional<Block> block_;
};

inline Reader::Iterator Reader::begin()
{
    return Iterator(*this);
}

} // namespace iio_stream
