// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/pipeline.hpp"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace iio_stream {

/// Longest wait of next() and take(): as long as it takes.
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

/// What becomes of a block for which its reader has no room.
enum class OnFull { block, drop };

/// Hands a source's blocks to the caller, one after the other; config.sinks get them too.
/// Owns: the pipeline. A block it gave may be kept for as long as one likes, also after the Reader is
/// gone; but a block that is kept is not filled again.
/// Throws: Error, from the constructor, start() and next(). Blocks: only next() and finish().
/// Thread: one at a time; stop(), stats() and fd() at any time from any.
class IIO_STREAM_API Reader {
public:
    class Iterator;

    explicit Reader(PipelineConfig config, OnFull on_full = OnFull::block);
    Reader(Reader&&) noexcept;
    ~Reader(); ///< ends the stream

    void start(); ///< also once more, when it has ended
    /// The next block; nothing where none came in time, or ended(). Throws the error that ended the
    /// stream behind its last block, and ENOBUFS where none can come because the caller keeps all.
    std::optional<Block> next(std::chrono::nanoseconds budget = kForever);
    bool ended() const noexcept; ///< next() has given the last block
    void stop() noexcept;        ///< ends the stream; what came before can still be taken
    Summary finish();            ///< stop(), and wait until every end is closed

    /// Readable while next() has something to say; for poll(), once next() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< blocks that the caller keeps
    const Format& format() const noexcept; ///< of the blocks, converted or not
    const Tuning& tuning() const noexcept; ///< of the source, when it was prepared
    const std::vector<Hop>& route() const noexcept;
    Stats stats() const;

    Iterator begin();
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// for (Block& block : reader): until the stream's end.
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

/// Takes the caller's samples to sinks: config.sinks; config.source is only a name.
/// Owns: the pipeline. Throws: Error, from the constructor, start(), take(), put() and write().
/// Blocks: only take(), write() and finish().
/// Thread: one at a time; stop(), stats() and fd() at any time from any.
class IIO_STREAM_API Writer {
public:
    Writer(PipelineConfig config, Format format);
    Writer(Writer&&) noexcept;
    ~Writer(); ///< ends the stream; what finish() did not wait for may be lost

    void start(); ///< also once more, when it has ended
    /// An empty block to fill; nothing where none came back in time, or ended(). Throws the error
    /// that ended the stream, and ENOBUFS where none can come because the caller keeps all.
    std::optional<EmptyBlock> take(std::chrono::nanoseconds budget = kForever);
    /// The first `bytes` of it are samples: off to the sinks. Only blocks of this stream.
    void put(EmptyBlock block, std::size_t bytes);
    /// Copies samples into blocks and puts the full ones; returns the bytes for which it found room
    /// in time. The rest of a block goes with the next write(), flush() or finish().
    std::size_t write(std::span<const std::byte> samples, std::chrono::nanoseconds budget = kForever);
    void flush();
    /// Nothing more will be put; take() and put() are usage errors from here to the next start().
    /// A sink with cyclic=on repeats what it was given, until finish() or stop().
    void close();
    bool ended() const noexcept; ///< nothing is taken any more, and take() or put() has said so
    void stop() noexcept;        ///< ends the stream; what was put last may be lost
    Summary finish();            ///< waits until all that was put has reached its place

    /// Readable while take() has something to say; for poll(), once take() has returned nothing.
    int fd() const noexcept;
    std::size_t held() const noexcept; ///< blocks that the caller keeps
    const Format& format() const noexcept;
    const std::vector<Hop>& route() const noexcept;
    Stats stats() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
