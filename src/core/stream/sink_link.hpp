// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/sink_driver.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace iio_stream::detail {

/// Options that every sink has.
struct SinkLinkOptions {
    std::optional<bool> drop; ///< on-full=; empty: as the sink prefers
    std::size_t hold = 0;     ///< maximum number of blocks that the sink may hold; 0 = no limit
    std::string convert;      ///< format to convert to; empty = none
    std::string channels;     ///< channels of the source to take from each sample; empty = all

    static SinkLinkOptions from(Options& options);
};

/// One sink with the blocks that wait for it. It is driven on the source thread or, if the sink can
/// block or its blocks are converted, on a worker thread of its own.
/// Thread: the source thread. Before it runs: plan(), prepare() and start() on the Session's thread
/// (start() can also run on the source thread, for a sink that starts last). After it has called
/// finish(): error(), latency() and report() on the Session's thread. On any thread: stats() and
/// free_space_left().
/// Throws: Error, with a fault, from plan(), prepare() and start().
class SinkLink {
public:
    /// How long the end of a stream waits for a sink.
    struct FinishLimits {
        std::int64_t timeout_ns; ///< for its next block
        /// Until this is set, the time for a disconnected peer is not limited here, because the
        /// sink limits it (reconnect=).
        const std::atomic<bool>* hurry;
    };

    SinkLink(std::unique_ptr<Sink> sink, std::string uri, const SinkLinkOptions& options);
    ~SinkLink();

    /// Returns the hops from blocks of this format and memory to the sink's destination; nullopt,
    /// with the reason in `why`, if there is no possible route. If the device of another sink has
    /// the blocks (`taken_by` is the URI of that sink), a sink that would hand them to a device as
    /// well gets copies. prepare() carries out the last plan.
    std::optional<std::vector<Hop>> plan(const Format& format, const MemoryTraits& traits,
                                         std::string& why, const std::string& taken_by = "");
    /// `attention` is set when this link has made room or failed. Returns false in the same cases
    /// as Sink::prepare().
    bool prepare(const StreamInfo& stream, BlockPool& pool, std::shared_ptr<sys::Event> attention,
                 std::string& why);
    /// Makes a prepare() or start() that waits for a peer give up. Call on any thread or in a
    /// signal handler.
    void cancel_start() noexcept { state_->cancel_start.set(); }
    void start();
    bool started() const noexcept { return started_; }
    /// Whether start() must come after the start of the other endpoints, because it can replace an
    /// older file.
    bool starts_last() const noexcept { return state_->sink->fault() == Fault::storage; }
    bool has_receiver();

    bool has_room() noexcept; ///< if false, `attention` is set when there is room
    /// Lifts the limit on held blocks, because the source needs no more blocks. A sink that drops
    /// blocks keeps its limit.
    void lift_limit() noexcept { limit_ = drop_ ? limit_ : 0; }
    bool holds_blocks() const noexcept { return held() != 0; }
    Error overdue() const; ///< the error of a sink that takes too long to finish a block
    void give(Block filled);
    /// Lets a sink that never blocks take its blocks, and complete them if its wait() was
    /// satisfied. Does nothing if the sink has a worker thread or was not started.
    void drive(bool satisfied);
    bool repeats() const noexcept { return repeats_; }
    /// Lets the sink repeat its blocks when no more blocks come. Call again while blocks wait for
    /// it.
    void repeat();
    Wait wait();
    /// The time, in ns, that the end of a stream with this timeout allows for each block.
    std::int64_t finish_timeout_ns(std::int64_t timeout_ns) const noexcept
    {
        return std::max(timeout_ns, finish_timeout_ns_);
    }
    bool failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }

    /// Lets the sink finish its blocks, provided that it finishes each of them within the allowed
    /// time. Then passes on the facts that no block could carry and closes the sink. The wait ends
    /// at once when `abort_fd` becomes readable. A sink that was never started is aborted, so that
    /// it leaves nothing behind. Does nothing if the sink is not prepared or is already finished.
    void finish(Stop how, const FinishLimits& limits, int abort_fd, StreamEnd end);
    void abandon() noexcept; ///< aborts the sink at once, whatever it is doing
    const std::optional<Error>& error() const noexcept { return error_; }
    /// The error of a failed sink, even before finish(); null if the sink has not failed.
    const Error* failure() const noexcept { return failed() ? &*state_->error : nullptr; }

    const std::string& uri() const noexcept { return state_->uri; }
    SinkStats stats() const noexcept;
    /// The time at which the sink last finished a block; 0 = never.
    std::int64_t finished_ns() const noexcept
    {
        return state_->finished_ns.load(std::memory_order_relaxed);
    }
    std::uint64_t free_space_left() const noexcept { return state_->sink->free_space_left(); }
    LinkState link() const noexcept { return state_->sink->link(); }
    /// Returns an empty histogram if the worker thread, which owns it, was left behind.
    Histogram latency() const noexcept { return left_behind_ ? Histogram{} : state_->latency; }
    /// Returns an empty result if the worker thread was left behind.
    SinkResult result() const { return left_behind_ ? SinkResult{} : state_->sink->result(); }

private:
    void renew();
    void start_thread();
    std::optional<std::vector<Hop>> plan_converted(const Format& format, const MemoryTraits& traits,
                                                   std::string& why, const std::string& taken_by);
    void finish_threaded(Stop how, const FinishLimits& limits, int abort_fd);
    void flush();
    bool waits_for_peer(const FinishLimits& limits) const noexcept;
    void finish_inline(Stop how, const FinishLimits& limits, int abort_fd);
    std::size_t held() const noexcept
    {
        return given_ - state_->finished.load(std::memory_order_seq_cst);
    }

    const std::shared_ptr<SinkDriver> state_; ///< shared with the worker thread
    std::thread thread_;
    std::string convert_, channels_;
    Memory converter_memory_;
    /// SinkTraits::finish_timeout_ns after prepare(). Later, the sink's own thread may change the
    /// state that its traits depend on.
    std::int64_t finish_timeout_ns_ = 0;
    bool drop_, repeats_, open_ = false, started_ = false, left_behind_ = false;
    std::size_t hold_;
    std::size_t limit_ = 0;  ///< hold_, or half of the blocks for a sink that drops; 0 = no limit
    std::size_t blocks_ = 0; ///< number of blocks in the pool
    std::size_t given_ = 0;
    std::uint64_t tail_ = 0; ///< samples dropped after the last block given
    std::atomic<std::uint64_t> dropped_{0}, high_water_{0};
    std::optional<Error> error_;
};

/// Whether a hop starts at the blocks of a BlockConverter, not at the pipeline's.
bool begins_at_converter(const Hop& hop);

/// Returns the current exception, of any type, as an Error with a fault. Call it in a catch block.
Error current_error(Fault fault);

} // namespace iio_stream::detail
