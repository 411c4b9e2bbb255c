// SPDX-License-Identifier: MIT
#pragma once

#include "core/fifo.hpp"
#include "core/histogram.hpp"
#include "core/ring.hpp"
#include "core/stage.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/stats.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace iio_stream::detail {

/// What became known of a stream when no block was left to carry it.
struct Trailing {
    std::vector<Gap> gaps;
    Retuning retuning; ///< the last; a block may have
};

/// The part of a SinkWorker that its worker works on. Shared, so that a worker that is stuck in a system
/// call can be left behind at the deadline without its sink being freed under its feet.
/// Thread: the driving one's (worker or source thread), but for the ring's giving end and atomics.
struct SinkWorkerState {
    struct Given {
        std::int64_t complete_ns;
        std::uint64_t samples, bytes;
    };

    void renew();               ///< for another stream; no worker is left of the last one
    void run();                 ///< the worker's life
    bool take_one();            ///< one block from the ring to the sink; false: not now
    void account();             ///< counts what the sink has done with
    void close(Stop how);       ///< ends the sink; errors are kept
    void discard();             ///< throws away what was not delivered, counted
    void account_missed() noexcept;
    void correct_counts() noexcept;
    void fail(const Error& error);
    void fail_with_current() noexcept; ///< in a catch block

    std::unique_ptr<Sink> sink;
    std::unique_ptr<Stage> stage;
    std::string uri;
    bool threaded = false;
    std::size_t sample_bytes = 1; ///< of the source's blocks
    std::unique_ptr<Ring> ring;
    sys::Event cancel;            ///< a blocked submit() must give up
    sys::Event done;              ///< the worker is over
    std::shared_ptr<sys::Event> attention; ///< the engine's, which a worker left behind outlives
    Fifo<Given> given;            ///< in the sink's hands
    Histogram latency;
    std::atomic<std::size_t> finished{0}; ///< blocks done with, or thrown away
    std::atomic<bool> room_wanted{false}, closing{false}, aborting{false}, failed{false};
    std::atomic<bool> repeating{false}; ///< no more blocks come, but the sink goes on
    std::atomic<std::uint64_t> delivered{0}, discarded{0}, bytes{0}; ///< samples, samples, bytes
    std::uint64_t missed = 0; ///< samples of Sink::missed() that are counted as discarded
    std::atomic<std::int64_t> finished_ns{0}; ///< when the last of them was delivered
    Trailing trailing;            ///< what no block carries; written before `closing` is set
    std::uint64_t dropped_last = 0; ///< samples behind the last block; the same
    std::optional<Error> broken_by; ///< the stream, not this worker; the same
    std::optional<Error> error;   ///< written before `failed` is set

private:
    void serve();
    bool sleep();
    void finish_one() noexcept;
    void drop(std::uint64_t samples) noexcept;
};

} // namespace iio_stream::detail
