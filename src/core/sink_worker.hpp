// SPDX-License-Identifier: MIT
#pragma once

#include "core/sink_worker_state.hpp"

#include <thread>
#include <vector>

namespace iio_stream::detail {

/// What the user may say of any sink.
struct SinkWorkerOptions {
    std::optional<bool> drop; ///< on-full=; else what the sink prefers
    std::size_t hold = 0;     ///< blocks at most in its hands; 0 = no limit
    std::string convert;      ///< format to convert to; empty = none

    static SinkWorkerOptions from(Options& options);
};

/// One sink with the blocks that wait for it, driven on the source thread or, where the sink may
/// block or its blocks are converted, on a worker of its own.
/// Thread: the source thread's, but for plan(), prepare(), start() before it runs and error(),
/// latency() and report() after it has called finish(); stats() and room() are anybody's.
/// Throws: Error, blamed on somebody, from plan(), prepare() and start().
class SinkWorker {
public:
    SinkWorker(std::unique_ptr<Sink> sink, std::string uri, const SinkWorkerOptions& options);
    ~SinkWorker();

    /// The hops from such blocks to the sink's place; nullopt where there is no way. Where another
    /// sink's device has the blocks (its URI in `taken_by`), one that would give them to a device,
    /// too, gets copies. What was planned last is what prepare() makes.
    std::optional<std::vector<Hop>> plan(const Format& format, const MemoryTraits& traits,
                                         std::string& why, const std::string& taken_by = "");
    /// `attention` is set when a worker has made room or has failed. False as Sink::prepare().
    bool prepare(const StreamInfo& stream, BlockPool& pool, std::shared_ptr<sys::Event> attention,
                 std::string& why);
    /// From any thread or signal handler: a prepare() that waits for somebody gives up.
    void cancel_prepare() noexcept { state_->cancel.set(); }
    void start();
    bool attended();

    bool has_room() noexcept; ///< false: attention will be set when there is
    bool holds_blocks() const noexcept { return held() != 0; }
    Error overdue() const; ///< that it has finished no block for too long
    void give(Block filled);
    /// Lets a sink that never blocks take its blocks, and complete them where its wait() was
    /// satisfied. Nothing for a worker's.
    void drive(bool satisfied);
    bool repeats() const noexcept { return state_->sink->repeats(); }
    /// Nothing more comes and the sink goes on; to be told again while blocks wait for it.
    void repeat();
    Wait wait();
    bool failed() const noexcept { return state_->failed.load(std::memory_order_acquire); }

    /// Lets the sink finish what it was given, as long as it finishes a block every `timeout_ns`,
    /// and closes it, with what no block was left to carry. `abort_fd` becoming readable
    /// ends the patience at once. Nothing to do where it is not prepared, or finished already.
    void finish(Stop how, std::int64_t timeout_ns, int abort_fd, Trailing trailing,
                const std::optional<Error>& broken_by);
    void abandon() noexcept; ///< at once, whatever becomes of it
    const std::optional<Error>& error() const noexcept { return error_; }
    /// Why it has failed, before finish() too.
    const Error* failure() const noexcept { return failed() ? &*state_->error : nullptr; }

    const std::string& uri() const noexcept { return state_->uri; }
    SinkStats stats() const noexcept;
    /// When it was last done with a block; 0 = never.
    std::int64_t finished_ns() const noexcept
    {
        return state_->finished_ns.load(std::memory_order_relaxed);
    }
    std::uint64_t room() const noexcept { return state_->sink->room(); }
    /// Empty where the worker, whose it is, was left behind.
    Histogram latency() const noexcept { return left_behind_ ? Histogram{} : state_->latency; }
    std::string report() const { return left_behind_ ? "" : state_->sink->report(); }
    std::string remark() const { return left_behind_ ? "" : state_->sink->remark(); }

private:
    void renew();
    std::optional<std::vector<Hop>> plan_stage(const Format& format, const MemoryTraits& traits,
                                               std::string& why, const std::string& taken_by);
    void finish_worker(Stop how, std::int64_t timeout_ns, int abort_fd);
    void flush();
    void finish_inline(Stop how, std::int64_t timeout_ns, int abort_fd);
    std::size_t held() const noexcept
    {
        return given_ - state_->finished.load(std::memory_order_seq_cst);
    }

    const std::shared_ptr<SinkWorkerState> state_; ///< shared with the worker
    std::thread worker_;
    std::string convert_;
    Memory stage_memory_;
    bool drop_, open_ = false, left_behind_ = false;
    std::size_t hold_;
    std::size_t limit_ = 0;  ///< hold_, or for a sink that drops half of the blocks; 0 = none
    std::size_t blocks_ = 0; ///< there are
    std::size_t given_ = 0;
    std::uint64_t tail_ = 0; ///< samples that were dropped behind the last block that was given
    std::atomic<std::uint64_t> dropped_{0}, high_water_{0};
    std::optional<Error> error_;
};

/// Whether a hop begins at blocks of a worker's own, not at the pipeline's.
bool begins_at_stage(const Hop& hop);

/// Any exception as an Error that is blamed on somebody; to be called in a catch block.
Error current_error(Fault fault);

} // namespace iio_stream::detail
