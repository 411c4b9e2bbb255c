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

/// The longest wait of next(), read(), take() and write(): as long as it takes.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

/// Why next() or take() returned: with a block, because time ran out, or because no block will
/// come.
enum class Outcome { block, timeout, ended };

/// A block, or why there is none. Use it like an optional: `if (auto block = reader.next(1s))`; to
/// tell a timeout from the end, ask outcome():
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

    /// The outcome of the call; `block` if it holds one.
    Outcome outcome() const noexcept { return this->has_value() ? Outcome::block : why_; }
    /// Time ran out; the stream goes on.
    bool timed_out() const noexcept { return outcome() == Outcome::timeout; }
    /// The stream has ended; no block will come before the next start().
    bool ended() const noexcept { return outcome() == Outcome::ended; }

private:
    Outcome why_ = Outcome::block;
};

/// What read() returned. Losses are counted in samples of the stream.
struct ReadResult {
    std::size_t count = 0; ///< elements filled, at the front of the span
    std::uint64_t sample_index =
        0; ///< samples before the first one since the stream started, lost ones included
    bool index_exact = true; ///< false: sample_index is a lower bound
    std::uint64_t gaps =
        0; ///< places before or between these samples where some are, or may be, lost
    std::uint64_t lost_min = 0,
                  lost_max = 0; ///< samples lost there; lost_max kUnknown: no upper bound is known
    bool ended = false;         ///< the stream has ended, so there were fewer
};

/// Hands the blocks of a source to the caller, one at a time. The same blocks go to config.sinks.
///
///     Reader rx({.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000});
///     for (const Block& block : rx)
///         for (std::complex<std::int16_t> sample : block.as<std::complex<std::int16_t>>())
///             …
///
/// The constructor prepares the stream. It starts with the first next(), read() or iteration, or
/// earlier with start(). Owns: the pipeline. You may keep a block as long as you like, even after
/// the Reader is gone; its buffer is not refilled while you keep it. Throws: Error, from the
/// constructor, start(), next() and read(): the request makes no sense (Fault::usage), or a device
/// or file failed. Blocks: only next(), read(), run() and close(); start() if a sink waits for its
/// peer. Thread: one at a time; stop(), stats() and fd() on any thread at any time.
class IIO_STREAM_API Reader {
public:
    class Iterator;

    /// Opens config.source and prepares the stream: memory, route, tuning. No samples flow before
    /// the start.
    explicit Reader(PipelineConfig config);
    Reader(Reader&&) noexcept; ///< the moved-from Reader can only be destroyed
    ~Reader();                 ///< ends the stream

    /// Starts the stream now; also restarts one that has ended. In a Session, starts all of its
    /// streams.
    void start();
    /// The next block; none if none came in time, or if the stream has ended. Throws the error that
    /// ended the stream after its last block, and ENOBUFS if none can come because the caller keeps
    /// them all.
    Next<Block> next(std::chrono::nanoseconds budget = kForever);
    /// Fills a vector, array or span with the next samples, across blocks, and converts them: full
    /// scale is 1.0 of a float and 2^(bits-1) of an integer. A std::complex takes an I/Q pair, a
    /// number one channel's value; with several channels their values are interleaved. Fewer are
    /// filled if time runs out or the stream ends. Throws like next(), and a usage Error if I/Q
    /// pairs are asked of a stream that has none.
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
    /// Calls `each` with every block, on this thread, until the stream ends; then close(). Throws
    /// what next() and `each` throw.
    Summary run(const std::function<void(const Block&)>& each);

    bool ended() const noexcept; ///< next() has returned the last block
    void stop() noexcept;        ///< ends the stream; blocks that came before can still be taken
    /// Ends the stream and waits until every endpoint is closed. The error that ended it is in the
    /// summary, not thrown. Blocks kept by the caller stay valid; start() begins another stream.
    Summary close();

    /// Readable when next() has something to return; for poll(), after next() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< blocks the caller keeps
    std::size_t
    block_size() const noexcept; ///< bytes of a block, the last one of a stream excepted
    std::size_t block_count() const noexcept;       ///< blocks in the pool
    const Format& format() const noexcept;          ///< of the blocks, after conversion
    const Tuning& tuning() const noexcept;          ///< of the source, when it was prepared
    const std::vector<Hop>& route() const noexcept; ///< how samples get into the blocks
    Stats stats() const;                            ///< the counters at this moment

    /// For range-for: the blocks until the stream ends. Each goes back before the wait for the
    /// next.
    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class Session; // makes its members
    Reader(PipelineConfig config, Session* session);
    /// read() for a type known by its description.
    ReadResult read_as(const detail::Type& type, std::span<std::byte> out,
                       std::chrono::nanoseconds budget);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// for (Block& block : reader): until the stream ends. Each block goes back before the wait for the
/// next.
class Reader::Iterator {
public:
    using value_type = Block;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Reader& reader) : reader_(&reader) { ++*this; }
    Block& operator*() noexcept { return *block_; }
    Iterator& operator++()
    {
        block_.reset(); // before the wait: it may be the one that the source needs
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
