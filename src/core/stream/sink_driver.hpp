// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "core/base/histogram.hpp"
#include "core/base/ring.hpp"
#include "core/stream/block_converter.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/stats.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// What became known about a stream when no block was left to carry it.
struct Trailing {
    std::vector<Gap> gaps;
    Retuning retuning; ///< the last one, perhaps already reported by a block
};

/// The part of a SinkLink that its worker thread uses. Shared, so that a thread stuck in a system
/// call can be left behind at the deadline without freeing the sink it uses.
/// Thread: the driving one (worker or source thread), except the giving end of the ring and
/// atomics. A sink that the source thread drives gets its blocks from give(), without the ring.
struct SinkDriver {
    struct Given {
        std::int64_t complete_ns;
        std::uint64_t samples, bytes;
    };

    void renew(); ///< for another stream; no worker thread is left from the last
    void run();   ///< the worker thread's main function
    void give(Block filled) noexcept; ///< a block for a sink without a worker thread; keeps errors
    /// Whether a worker thread drives the sink, before it begins. Blocks that wait go along.
    void set_threaded(bool on) noexcept;
    std::size_t waiting_blocks() const noexcept; ///< blocks that the sink has not taken yet
    bool take_one();      ///< one block that waits to the sink; false: not now
    void account();       ///< counts what the sink has finished
    void close(Stop how); ///< closes the sink; keeps errors
    void discard();       ///< drops and counts what was not delivered
    void account_missed() noexcept;
    void correct_counts() noexcept;
    void fail(const Error& error);
    void fail_with_current() noexcept; ///< call in a catch block

    std::unique_ptr<Sink> sink;
    std::unique_ptr<BlockConverter> converter;
    std::string uri;
    bool threaded = false;
    std::size_t sample_bytes = 1; ///< of the source's blocks
    std::unique_ptr<Ring> ring;   ///< to the worker thread
    Fifo<Block> waiting;     ///< without a worker thread: blocks given while the sink was not ready
    sys::Event cancel;       ///< a blocked submit() or stop() must give up
    sys::Event cancel_start; ///< a prepare() or start() that waits for a peer must give up
    sys::Event done;         ///< the worker thread has ended
    std::shared_ptr<sys::Event>
        attention;     ///< the engine's, shared because a thread left behind outlives it
    Fifo<Given> given; ///< held by the sink
    Histogram latency;
    std::atomic<std::size_t> finished{0}; ///< blocks delivered or thrown away
    std::atomic<bool> room_wanted{false}, closing{false}, aborting{false}, failed{false};
    std::atomic<bool> repeating{false}; ///< no more blocks come, but the sink goes on
    std::atomic<std::uint64_t> delivered{0}, discarded{0}, bytes{0}; ///< samples, samples, bytes
    std::uint64_t missed = 0; ///< samples of Sink::missed() already counted as discarded
    std::atomic<std::int64_t> finished_ns{0}; ///< when the last block was delivered
    Trailing trailing; ///< what no block carries; written before `closing` is set
    std::uint64_t dropped_last =
        0; ///< samples dropped after the last block; also written before that
    std::optional<Error>
        stream_error; ///< why the stream ended, if not by this sink; also written before that
    std::optional<Error> error; ///< written before `failed` is set

private:
    void serve();
    void hand_over(Block filled);
    bool sleep();
    void finish_one() noexcept;
    void drop(std::uint64_t samples) noexcept;
};

} // namespace iio_stream::detail
