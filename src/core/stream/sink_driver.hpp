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

/// The part of a SinkLink that its worker thread uses. It is shared, so that a thread stuck in a
/// system call can be left behind at the deadline without freeing the sink that it uses.
/// Thread: the thread that drives the sink (worker or source thread), except for the producing end
/// of the ring and the atomics. A sink that the source thread drives gets its blocks from give(),
/// without the ring.
struct SinkDriver {
    struct Given {
        std::int64_t complete_ns;
        std::uint64_t samples, bytes;
    };

    /// Resets the driver for another stream. The worker thread of the previous stream must have
    /// ended.
    void renew();
    void run(); ///< the worker thread's main function
    /// Gives a block to a sink without a worker thread. Stores errors.
    void give(Block filled) noexcept;
    /// Sets whether a worker thread drives the sink. Call before the thread begins. Waiting blocks
    /// are moved between `waiting` and the ring.
    void set_threaded(bool on) noexcept;
    std::size_t waiting_blocks() const noexcept; ///< blocks that the sink has not taken yet
    bool take_one();      ///< gives one waiting block to the sink; false: it is not possible now
    void account();       ///< counts the blocks that the sink has finished
    void close(Stop how); ///< closes the sink; stores errors
    void discard();       ///< drops and counts the blocks that were not delivered
    void account_missed() noexcept;
    void correct_counts() noexcept;
    void fail(const Error& error);
    void fail_with_current() noexcept; ///< call in a catch block

    std::unique_ptr<Sink> sink;
    std::unique_ptr<BlockConverter> converter;
    std::string uri;
    bool threaded = false;
    std::size_t sample_bytes = 1; ///< bytes of a sample in the source's blocks
    std::unique_ptr<Ring> ring;   ///< passes blocks to the worker thread
    Fifo<Block> waiting;     ///< without a worker thread: blocks given while the sink was not ready
    sys::Event cancel;       ///< set when a blocked submit() or stop() must give up
    sys::Event cancel_start; ///< set when a prepare() or start() that waits for a peer must give up
    sys::Event done;         ///< set when the worker thread has ended
    /// The engine's event, shared because a thread that is left behind outlives the engine.
    std::shared_ptr<sys::Event> attention;
    Fifo<Given> given; ///< blocks that the sink holds
    Histogram latency;
    std::atomic<std::size_t> finished{0}; ///< blocks delivered or discarded
    std::atomic<bool> room_wanted{false}, closing{false}, aborting{false}, failed{false};
    std::atomic<bool> repeating{false}; ///< no more blocks come, but the sink continues
    std::atomic<std::uint64_t> delivered{0}, discarded{0}, bytes{0}; ///< samples, samples, bytes
    std::uint64_t missed = 0; ///< samples of Sink::missed() already counted as discarded
    std::atomic<std::int64_t> finished_ns{0}; ///< when the last block was delivered
    StreamEnd end;                            ///< written before `closing` is set
    std::optional<Error> error;               ///< written before `failed` is set

private:
    void serve();
    void hand_over(Block filled);
    bool sleep();
    void finish_one() noexcept;
    void drop(std::uint64_t samples) noexcept;
};

} // namespace iio_stream::detail
