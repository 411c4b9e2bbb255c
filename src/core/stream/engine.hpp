// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/retunings.hpp"
#include "core/stream/control_thread.hpp"
#include "core/stream/deadlines.hpp"
#include "core/stream/delivery_queue.hpp"
#include "core/stream/event_buffer.hpp"
#include "core/stream/sink_link.hpp"
#include "core/stream/sizing.hpp"
#include "core/stream/stream_counters.hpp"
#include "core/stream/stream_limits.hpp"
#include "core/stream/stream_state.hpp"
#include "iio_stream/pipeline.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace iio_stream::detail {

struct Plan;

/// Runs one pipeline: the source, its sinks and the source thread between them.
/// Owns: the endpoints, the pool, the source thread. Members are in order of construction: the pool
/// outlives the endpoints.
/// Thread: loop() and the functions that it calls on the source thread; stats(), free_space_left()
/// and ended() on any thread; the other functions on the Session's thread.
class Engine {
public:
    Engine(const PipelineConfig& config, std::unique_ptr<Source> source,
           std::optional<Memory> memory, std::vector<std::unique_ptr<SinkLink>> sinks);
    ~Engine();

    /// May be called again after a stream has ended, to restart it.
    void prepare();
    /// Makes endpoints that wait for a peer in prepare() give up. Call on any thread or in a signal
    /// handler.
    void cancel_source() noexcept { source_->cancel(); }
    void cancel_sinks() noexcept;
    /// Starts the sinks that are not storage, and the sinks that have no peer yet.
    void start_sinks();
    /// Starts storage, which can replace an older file, after the other sinks of all pipelines. If
    /// a sink has no peer yet, the source thread starts storage and the source later.
    void start_storage();
    /// Starts the source, with the first blocks already queued.
    void start_source();
    /// Starts the source thread; `over` is set when it has finished.
    void launch(ControlThread& control, sys::Event& over);
    /// `reason`: `signal` if the user or the program stops the stream, `stopped` if another stream
    /// has failed.
    void request_stop(Stop how, EndReason reason = EndReason::signal) noexcept;
    void join();
    void abandon() noexcept; ///< ends the stream at once, whatever its state

    StreamState state() const noexcept { return state_.load(std::memory_order_acquire); }
    bool ended() const noexcept { return state() == StreamState::ended; }
    bool failed() const noexcept { return ended() && error_.has_value(); }
    bool repeats() const noexcept; ///< a sink continues after the end of the source
    const Format& format() const noexcept { return source_->format(); }
    const std::vector<Hop>& route() const noexcept { return route_; }
    Stats stats() const;
    std::vector<Event> take_events();
    std::vector<std::uint64_t> free_space_left() const;
    Summary summary() const;

private:
    // engine.cpp
    void reset();
    void enter(StreamState next) noexcept;
    bool allocate(const Plan& plan, std::vector<MemoryChoice>& choices);
    bool prepare_source(std::string& why);
    std::uint64_t wanted_bytes() const noexcept;
    std::uint64_t expected_bytes() const;
    double pace() const noexcept;
    void start_last_sinks();
    void enable_source();
    void begin();
    void finish();
    void stop_source() noexcept;
    StreamEnd take_end();
    void end_by_trailing(const std::vector<Gap>& trailing) noexcept;
    void end_with(const Error& error);
    void end_with_current() noexcept;
    std::int64_t moved_ns() const noexcept;

    // engine_loop.cpp
    void loop();
    void await_listeners();
    bool has_receiver();
    bool has_failed_sink() const noexcept;
    bool step(); ///< one round; false at the end of the stream
    bool take();
    bool drive_sinks();
    void accept(Block filled);
    void pass_on(Block filled);
    void count_loss(const Gap& gap) noexcept;
    void end_before_gaps(const Block& filled);
    bool matters(const Gap& gap, const Block& filled) const noexcept;
    bool deliver_queued();
    bool all_have_room() noexcept;
    void deliver(Block filled);
    bool refill();
    void repeat();
    void end(EndReason reason) noexcept;
    void end_by_gap() noexcept;
    void end_by_underflow() noexcept;
    void sleep(bool wants_blocks);
    std::int64_t wake_time(const Wait& source, bool expecting, std::int64_t now) const;
    void overdue(bool expecting);
    void give_up();
    void take_rest();
    bool awaits_peer() const noexcept;
    bool is_silent() noexcept;
    void try_again(std::int64_t waited_ns, const char* hint);
    void check_time(std::int64_t now_ns, std::uint64_t coming = 0);
    void want_no_more_than(std::uint64_t samples);

    PipelineConfig config_;
    std::string name_; ///< name of the source
    std::optional<Memory> memory_;
    std::optional<BlockPool> pool_;
    std::unique_ptr<Source> source_;
    std::vector<std::unique_ptr<SinkLink>> sinks_;
    /// The order in which the sinks get blocks. Sinks that hand them to a device come last, because
    /// they would delay CPU access to the same block.
    std::vector<SinkLink*> order_;
    std::vector<Hop> route_;
    std::vector<std::size_t> last_hops_; ///< indexes in route_, one per sink
    Sizing sizing_;

    // Used only by the source thread.
    StreamCounters counters_; ///< read by any thread
    StreamLimits limits_{counters_};
    std::size_t extra_blocks_ = 0; ///< blocks the source may have after the requested ones
    DeliveryQueue deliveries_;
    Deadlines deadlines_;
    bool source_ready_ = false; ///< the source may have a block: its wait was satisfied
    bool sinks_ready_ = false;  ///< a sink's wait was satisfied
    EndReason end_reason_ = EndReason::none;
    Retunings known_retunings_;
    std::vector<Retuning> retunings_; ///< each retuning once, for the summary
    std::vector<Gap> late_; ///< for --on-gap stop: losses that can be in samples already delivered

    /// Set when a stop is requested, or when a sink has made room or failed.
    std::shared_ptr<sys::Event> attention_ = std::make_shared<sys::Event>();
    sys::Event abort_;
    sys::Event* over_ = nullptr;
    ControlThread* control_ = nullptr;
    std::thread thread_;
    std::atomic<bool> stop_requested_{false};
    std::atomic<EndReason> stop_reason_{EndReason::signal};
    std::atomic<StreamState> state_{StreamState::prepared}; ///< changed by enter() and reset() only
    std::optional<Error> error_;

    std::int64_t enabled_ns_ = 0;                        ///< when the source was started
    std::atomic<std::int64_t> start_ns_{0}, stop_ns_{0}; ///< 0 = not yet
    std::atomic<std::int64_t> source_end_ns_{0};         ///< time of the source's last sample
    std::string started_;
    CpuTime cpu_;
    std::vector<ThreadTime> threads_; ///< at the start; after the end, of the stream
    /// Shared with threads of the sinks, which can report events after the stream has ended.
    std::shared_ptr<EventBuffer> events_ = std::make_shared<EventBuffer>();
    EventWatch watch_; ///< used by take_events() only
};

} // namespace iio_stream::detail
