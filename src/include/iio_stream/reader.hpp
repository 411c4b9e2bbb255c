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

/// Longest wait of next(), read(), take() and write(): as long as it takes.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

/// Why next() or take() returned: with a block, because the time was over, or because none will come.
enum class Outcome { block, timeout, ended };

/// A block, or why there is none. It is an optional: `if (auto block = reader.next(1s))`; who has to tell a
/// time-out from the end asks outcome():
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

    /// Of the call; `block` where it holds one.
    Outcome outcome() const noexcept { return this->has_value() ? Outcome::block : why_; }
    /// The time was over; the stream goes on.
    bool timed_out() const noexcept { return outcome() == Outcome::timeout; }
    /// The stream has ended; no block will come before the next start().
    bool ended() const noexcept { return outcome() == Outcome::ended; }

private:
    Outcome why_ = Outcome::block;
};

/// What read() brought. Losses count in samples of the stream.
struct ReadResult {
    std::size_t count = 0;          ///< elements at the front of the span that were filled
    std::uint64_t sample_index = 0; ///< samples before the first since the start, lost ones included
    bool index_exact = true;        ///< else that is the least that it can be
    std::uint64_t gaps = 0;         ///< places before or between these samples where some are, or may be, lost
    std::uint64_t lost_min = 0, lost_max = 0; ///< samples lost there; lost_max kUnknown = no limit is known
    bool ended = false;             ///< there were fewer, as the stream has ended
};

/// Hands a source's blocks to the caller, one after the other; config.sinks get them too.
///
///     Reader rx({.source = "iio:cf-ad9361-lpc?frequency=2.4G", .samples = 1'000'000});
///     for (const Block& block : rx)
///         for (std::complex<std::int16_t> sample : block.as<std::complex<std::int16_t>>())
///             …
///
/// The stream is prepared by the constructor and starts with the first next(), read() or iteration, or with
/// start(), at a moment of one's choice.
/// Owns: the pipeline. A block it gave may be kept for as long as one likes, also after the Reader is
/// gone; but a block that is kept is not filled again.
/// Throws: Error, from the constructor, start(), next() and read(): what is asked for makes no sense
/// (Fault::usage), or a device or file failed.
/// Blocks: only next(), read(), run() and close(); start() where a sink waits for its peer.
/// Thread: one at a time; stop(), stats() and fd() at any time from any.
class IIO_STREAM_API Reader {
public:
    class Iterator;

    /// Opens config.source and prepares the stream: memory, route, tuning. Nothing moves before the start.
    explicit Reader(PipelineConfig config);
    Reader(Reader&&) noexcept; ///< of the other nothing is left but its destructor
    ~Reader(); ///< ends the stream

    /// Starts the stream now; also once more, when it has ended. In a Session all of them start.
    void start();
    /// The next block; none where none came in time, or where the stream has ended. Throws the error that
    /// ended the stream behind its last block, and ENOBUFS where none can come because the caller keeps all.
    Next<Block> next(std::chrono::nanoseconds budget = kForever);
    /// Fills a vector, array or span with the next samples, whatever the blocks' size, and converts them:
    /// full scale is 1.0 of a float and 2^(bits-1) of an integer. A std::complex is an I/Q pair, a number
    /// one channel's value; where there are several, their values take turns. Fewer are filled where no more came
    /// in time, or before the end. Throws as next() does, and a usage Error for I/Q pairs of a stream that has none.
    ///
    ///     std::vector<std::complex<float>> samples(1'000'000);
    ///     ReadResult got = rx.read(samples);
    template <std::ranges::contiguous_range Range>
        requires SampleType<std::ranges::range_value_t<Range>>
    ReadResult read(Range&& out, std::chrono::nanoseconds budget = kForever)
    {
        const std::span all(out);
        return read_as(detail::type_of<std::ranges::range_value_t<Range>>(), std::as_writable_bytes(all), budget);
    }
    /// Calls `each` with every block, on this thread, until the stream ends; then close(). Throws what next()
    /// and `each` throw.
    Summary run(const std::function<void(const Block&)>& each);

    bool ended() const noexcept; ///< next() has given the last block
    void stop() noexcept;        ///< ends the stream; what came before can still be taken
    /// Ends the stream and waits until every end of it is closed. The error that ended it stands in the
    /// summary and is not thrown. Blocks that the caller keeps stay; start() begins another stream.
    Summary close();

    /// Readable while next() has something to say; for poll(), once next() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< blocks that the caller keeps
    const Format& format() const noexcept; ///< of the blocks, converted or not
    const Tuning& tuning() const noexcept; ///< of the source, when it was prepared
    const std::vector<Hop>& route() const noexcept; ///< how samples get into the blocks
    Stats stats() const; ///< the counters of this moment

    /// For range-for: the blocks until the stream's end, each of which goes back before the next is waited for.
    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class Session; // makes its members
    Reader(PipelineConfig config, Session* session);
    /// read() for a type that is known by its description.
    ReadResult read_as(const detail::Type& type, std::span<std::byte> out, std::chrono::nanoseconds budget);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// for (Block& block : reader): until the stream's end. The block goes back before the next one is waited for.
class Reader::Iterator {
public:
    using value_type = Block;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Reader& reader) : reader_(&reader) { ++*this; }
    Block& operator*() noexcept { return *block_; }
    Iterator& operator++()
    {
        block_.reset(); // before the wait: it may be the one that is missing
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
