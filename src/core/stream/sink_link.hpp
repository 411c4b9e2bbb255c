// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/sink_driver.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace iio_stream::detail {

/// Options that every sink has.
struct SinkLinkOptions {
    std::optional<bool> drop; ///< on-full=; empty: what the sink prefers
    std::size_t hold = 0;     ///< most blocks it may hold; 0 = no limit
    std::string convert;      ///< format to convert to; empty = none
    std::string channels;     ///< of the source, to take of each sample; empty = all

    static SinkLinkOptions from(Options& options);
};

/// One sink with the blocks that wait for it, driven on the source thread or, if the sink may block
/// or its blocks are converted, on a worker thread of its own.
/// Thread: the source thread, except plan(), prepare() and start() before it runs (a sink
/// that starts last may start on it), and error(),
/// latency() and report() after it has called finish(); stats() and free_space_left() on any.
/// Throws: Error, with a fault, from plan(), prepare() and start().
class SinkLink {
public:
    /// How long the end waits for a sink.
    struct FinishLimits {
        std::int64_t timeout_ns; ///< for its next block
        /// Until this is set, any time for a peer that is away: that is up to the sink
        /// (reconnect=).
        const std::atomic<bool>* hurry;
    };

    SinkLink(std::unique_ptr<Sink> sink, std::string uri, const SinkLinkOptions& options);
    ~SinkLink();

    /// The hops from such blocks to the sink's destination; nullopt if there is no way. If the
    /// device of another sink has the blocks (its URI in `taken_by`), a sink that would hand them
    /// to a device as well gets copies. prepare() carries out the last plan.
    std::optional<std::vector<Hop>> plan(const Format& format, const MemoryTraits& traits,
                                         std::string& why, const std::string& taken_by = "");
    /// `attention` is set when this link has made room or failed. Returns false like
    /// Sink::prepare().
    bool prepare(const StreamInfo& stream, BlockPool& pool, std::shared_ptr<sys::Event> attention,
                 std::string& why);
    /// On any thread or in a signal handler: a prepare() or start() that waits for a peer gives up.
    void cancel_start() noexcept { state_->cancel_start.set(); }
    void start();
    bool started() const noexcept { return started_; }
    /// Whether its start() is to wait for the other endpoints: it may replace an older file.
    bool starts_last() const noexcept { return state_->sink->fault() == Fault::storage; }
    bool has_receiver();

    bool has_room() noexcept; ///< if false, attention will be set when there is
    /// The source needs no more blocks: all that are given are taken, unless the sink drops some.
    void lift_limit() noexcept { limit_ = drop_ ? limit_ : 0; }
    bool holds_blocks() const noexcept { return held() != 0; }
    Error overdue() const; ///< for a sink that has finished no block for too long
    void give(Block filled);
    /// Lets a sink that never blocks take its blocks, and complete them if its wait() was
    /// satisfied. Does nothing if the sink has a worker thread or was not started.
    void drive(bool satisfied);
    bool repeats() const noexcept { return state_->sink->repeats(); }
    /// No more blocks come, but the sink goes on. Call again while blocks wait for it.
    void repeat();
    Wait wait();
    /// The deadline at the end of a stream with this timeout.
    std::int64_t finish_timeout_ns(std::int64_t timeout_ns) const noexcept
    {
        return std::max(timeout_ns, state_->sink->finish_timeout_ns());
    }
    bool failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }

    /// Lets the sink finish what it was given, as long as it finishes a block within the time that
    /// is allowed, then closes it and passes on what no block could carry. `abort_fd` becoming
    /// readable ends the waiting at once. A sink that was never started is aborted, so that it
    /// leaves nothing behind. Does nothing if it is not prepared or already finished.
    void finish(Stop how, const FinishLimits& limits, int abort_fd, Trailing trailing,
                const std::optional<Error>& stream_error);
    void abandon() noexcept; ///< at once, whatever it is doing
    const std::optional<Error>& error() const noexcept { return error_; }
    /// Why it has failed, even before finish().
    const Error* failure() const noexcept { return failed() ? &*state_->error : nullptr; }

    const std::string& uri() const noexcept { return state_->uri; }
    SinkStats stats() const noexcept;
    /// When it last finished a block; 0 = never.
    std::int64_t finished_ns() const noexcept
    {
        return state_->finished_ns.load(std::memory_order_relaxed);
    }
    std::uint64_t free_space_left() const noexcept { return state_->sink->free_space_left(); }
    LinkState link() const noexcept { return state_->sink->link(); }
    std::vector<Event> take_events() { return state_->sink->take_events(); }
    /// Empty if the worker thread, which owns it, was left behind.
    Histogram latency() const noexcept { return left_behind_ ? Histogram{} : state_->latency; }
    std::string report() const { return left_behind_ ? "" : state_->sink->report(); }
    std::string remark() const { return left_behind_ ? "" : state_->sink->remark(); }

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
    bool drop_, open_ = false, started_ = false, left_behind_ = false;
    std::size_t hold_;
    std::size_t limit_ = 0;  ///< hold_, or half of the blocks for a sink that drops; 0 = none
    std::size_t blocks_ = 0; ///< number of blocks in the pool
    std::size_t given_ = 0;
    std::uint64_t tail_ = 0; ///< samples dropped after the last block given
    std::atomic<std::uint64_t> dropped_{0}, high_water_{0};
    std::optional<Error> error_;
};

/// Whether a hop starts at the blocks of a BlockConverter, not at the pipeline's.
bool begins_at_converter(const Hop& hop);

/// Any exception as an Error with a fault; call it in a catch block.
Error current_error(Fault fault);

} // namespace iio_stream::detail
