// SPDX-License-Identifier: MIT
#pragma once

#include "core/control.hpp"
#include "core/losses.hpp"
#include "core/sink_worker.hpp"
#include "core/retunings.hpp"
#include "core/sizing.hpp"
#include "iio_stream/pipeline.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace iio_stream::detail {

/// Runs one pipeline: the source, its workers and the source thread between them.
/// Owns: the endpoints, the pool, the source thread. Members are in the order of their making;
/// the pool goes last of what the endpoints use.
/// Thread: loop() and what it calls are the source thread's; stats(), room() and ended() anybody's;
/// the rest the Session's.
class Engine {
public:
    Engine(const PipelineConfig& config, std::string uri, std::unique_ptr<Source> source,
           std::optional<Memory> memory, std::vector<std::unique_ptr<SinkWorker>> workers);
    ~Engine();

    /// Also after an end: for another stream of the same kind.
    void prepare();
    /// From any thread or signal handler: ends in prepare() that wait for somebody give up.
    void cancel_source() noexcept { source_->cancel(); }
    void cancel_sinks() noexcept;
    void start_sinks();
    /// Enables; the first blocks are queued already. Where a sink is not attended yet, the source
    /// thread will.
    void start_source();
    /// From here the source thread rules; `over` is set when it has come to its end.
    void launch(Control& control, sys::Event& over);
    void request_stop(Stop how) noexcept;
    void join();
    void abandon() noexcept; ///< ends it at once, however far it has come

    bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
    bool failed() const noexcept { return ended() && error_.has_value(); }
    bool repeats() const noexcept; ///< some sink goes on when the source has no more
    const Format& format() const noexcept { return source_->format(); }
    const std::vector<Hop>& route() const noexcept { return route_; }
    Stats stats() const;
    std::vector<std::uint64_t> room() const;
    Summary summary() const;

private:
    struct Zeros { ///< that stand for lost samples
        std::uint64_t samples = 0;
        std::uint64_t position = 0, index = 0; ///< of the first one, as a block has them
        bool index_exact = true;
    };
    struct Piece { ///< what is next to be delivered: a block, or zeros
        std::optional<Block> filled;
        Zeros zeros;
    };

    void reset();
    bool prepare_source(std::string& why);
    std::uint64_t expected_bytes() const;
    bool attended();
    void await_listeners();
    void enable_source();
    void begin();
    void loop();
    bool step();                         ///< one round; false at the stream's end
    void repeat();
    void stop_source() noexcept;
    void accept(Block filled);
    bool matters(const Gap& gap, const Block& filled) const noexcept;
    void count_gap(const Gap& gap);
    void queue_with_zeros(const Block& filled);
    bool deliver_pieces();
    void deliver(Block filled);
    void check_time(std::int64_t now_ns, std::uint64_t coming = 0);
    void end_before_gaps(const Block& filled);
    bool rate_ends_it() const noexcept;
    std::uint64_t left_of_duration() const;
    void want_no_more_than(std::uint64_t samples);
    std::optional<Block> make_zeros(const Zeros& zeros);
    void refill();
    void sleep();
    std::int64_t wake_time(const Wait& source, bool expecting, std::int64_t now) const;
    void overdue(bool expecting);
    void give_up();
    bool all_have_room() noexcept;
    void end(const char* why) noexcept;
    void end_with(const Error& error);
    void end_with_current() noexcept;
    std::int64_t moved_ns() const noexcept;
    Trailing take_trailing();
    void end_by_trailing(const std::vector<Gap>& trailing) noexcept;
    void finish();

    PipelineConfig config_;
    std::string uri_;
    std::optional<Memory> memory_;
    std::optional<BlockPool> pool_;
    std::unique_ptr<Source> source_;
    std::vector<std::unique_ptr<SinkWorker>> workers_;
    /// In which they get blocks: those last that give them to a device, which would hold up
    /// whoever asks for the CPU's view of one then.
    std::vector<SinkWorker*> order_;
    std::vector<Hop> route_;
    std::vector<std::size_t> last_hops_; ///< in route_, of each worker
    Sizing sizing_;

    // The source thread's.
    std::uint64_t wanted_ = kUnknown;    ///< samples to deliver, kUnknown = until told
    const char* wanted_by_ = "samples";
    std::uint64_t delivered_ = 0;
    CertainLosses certain_losses_;
    std::size_t beyond_ = 0;             ///< blocks that the source may still have beyond these
    Fifo<Piece> pieces_;
    std::optional<EmptyBlock> spare_;         ///< for zeros: the source may have all others
    std::int64_t progress_ns_ = 0;       ///< when a block last moved, or the first was asked for
    std::int64_t end_ns_ = 0;            ///< when --duration is over; 0 = never
    bool source_ended_ = false, want_blocks_ = false;
    bool held_ = false;                  ///< the source is not started, as nobody listens yet
    bool repeating_ = false;             ///< the source is stopped, and some sink goes on
    bool moved_ = false;                 ///< a block came or went since the last sleep
    bool source_ready_ = false;          ///< its wait was satisfied, and it has more
    bool sinks_ready_ = false;           ///< some sink's wait was satisfied
    const char* ended_by_ = nullptr;
    Retunings heard_;
    std::vector<Retuning> retunings_;    ///< reported by blocks
    std::vector<Gap> late_; ///< of --on-gap stop: losses that may lie in what was delivered before

    /// A stop is wanted, or a worker has made room or has failed.
    std::shared_ptr<sys::Event> attention_ = std::make_shared<sys::Event>();
    sys::Event abort_;
    sys::Event* over_ = nullptr;
    Control* control_ = nullptr;
    std::thread thread_;
    std::atomic<bool> stop_requested_{false}, ended_{false};
    std::optional<Error> error_;

    std::atomic<std::uint64_t> samples_{0}, bytes_{0}, blocks_{0};
    std::atomic<std::uint64_t> certain_{0}, possible_{0}, lost_min_{0}, lost_max_{0};
    std::atomic<std::int64_t> start_ns_{0}, stop_ns_{0}; ///< 0 = not yet
    std::atomic<std::int64_t> source_end_ns_{0};         ///< when it had the last sample
    std::string started_;
    CpuTime cpu_;
};

} // namespace iio_stream::detail
