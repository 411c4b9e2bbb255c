// SPDX-License-Identifier: MIT
#include "core/sink_worker.hpp"

#include "core/common_options.hpp"
#include "core/memory_backend.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kStageBlocks = 8;
constexpr const char *kConverted = "converted", *kCopied = "copied"; ///< names in a route

} // namespace

bool begins_at_stage(const Hop& hop)
{
    return hop.from == kConverted || hop.from == kCopied;
}

Error current_error(Fault fault)
{
    try {
        throw;
    } catch (const Error& error) {
        return error.blamed_on(fault);
    } catch (const std::system_error& error) {
        return {fault, error.code().value(), "", "", error.what()};
    } catch (const std::exception& error) {
        return {fault, EIO, "", "", error.what()};
    } catch (...) {
        return {fault, EIO, "", "", "an exception of an unknown kind"};
    }
}

SinkWorkerOptions SinkWorkerOptions::from(Options& options)
{
    SinkWorkerOptions worker;
    if (const auto full = options.take(kCommon["on-full"]))
        worker.drop = *full == "drop";
    if (const auto hold = options.take(kCommon["hold"]))
        if (worker.hold = parse_memory_size("hold", *hold); worker.hold == 0)
            fail_usage("hold=0: a sink needs at least one block");
    worker.convert = options.take(kCommon["convert"]).value_or("");
    return worker;
}

SinkWorker::SinkWorker(std::unique_ptr<Sink> sink, std::string uri,
                       const SinkWorkerOptions& options)
    : state_(std::make_shared<SinkWorkerState>()),
      convert_(options.convert),
      drop_(options.drop.value_or(sink->drops_when_full())),
      hold_(options.hold)
{
    state_->sink = std::move(sink);
    state_->uri = std::move(uri);
}

SinkWorker::~SinkWorker()
{
    abandon();
}

std::optional<std::vector<Hop>> SinkWorker::plan(const Format& format, const MemoryTraits& traits,
                                                 std::string& why, const std::string& taken_by)
{
    renew();
    state_->stage.reset();
    if (!convert_.empty())
        return plan_stage(format, traits, why, taken_by);
    auto hop = state_->sink->plan(traits, why);
    if (!hop)
        return std::nullopt;
    if (hop->attached && !taken_by.empty())
        return plan_stage(format, traits, why, taken_by);
    hop->from = "block";
    hop->to = state_->uri;
    return std::vector<Hop>{*hop};
}

// Through blocks of its own.
std::optional<std::vector<Hop>> SinkWorker::plan_stage(const Format& format,
                                                       const MemoryTraits& traits, std::string& why,
                                                       const std::string& taken_by)
{
    SinkWorkerState& s = *state_;
    s.stage = convert_.empty() ? std::make_unique<Stage>(format)
                               : std::make_unique<Stage>(format, convert_);
    const std::size_t bytes = s.stage->block_size(traits.block_size);
    std::optional<Hop> best;
    for (const MemoryChoice& choice : memory_choices()) {
        if (!choice.unavailable.empty())
            continue;
        auto hop = s.sink->plan(traits_of(choice.memory, bytes), why);
        const auto cost = [](const Hop& h) { return std::pair{h.copies, h.attached ? 1 : 0}; };
        if (hop &&
            (!best || cost(*hop) < cost(*best) || (!hop->attached && cost(*hop) == cost(*best)))) {
            best = hop;
            stage_memory_ = choice.memory;
        }
    }
    if (!best)
        return std::nullopt;
    Hop stage;
    stage.from = "block";
    stage.to = convert_.empty() ? kCopied : kConverted;
    stage.mechanism = convert_.empty() ? "copy" : "convert:" + s.stage->format().name();
    stage.memory = stage_memory_.name();
    stage.page_bytes = traits_of(stage_memory_, bytes).page_bytes;
    stage.copies = 1;
    stage.reason = convert_.empty()
                       ? taken_by + " has the blocks, and only one device at a time can"
                       : "convert= was given";
    stage.cpu = true;
    best->from = stage.to;
    best->to = s.uri;
    return std::vector<Hop>{stage, *best};
}

bool SinkWorker::prepare(const StreamInfo& stream, BlockPool& pool,
                         std::shared_ptr<sys::Event> attention, std::string& why)
{
    SinkWorkerState& s = *state_;
    StreamInfo info = stream;
    info.drops = drop_;
    BlockPool* blocks = &pool;
    if (s.stage) {
        s.stage->prepare(stage_memory_, stream.block_size, kStageBlocks);
        info.format = s.stage->format();
        info.block_size = s.stage->block_size(stream.block_size);
        info.total_bytes = s.stage->block_size(stream.total_bytes);
        blocks = &s.stage->pool();
    }
    s.sample_bytes = stream.format.sample_bytes;
    s.attention = std::move(attention);
    // A block with gaps may come as a slice before each of them and one after the last.
    blocks_ = pool.count();
    const std::size_t leases = std::max(pool.count(), kStageBlocks) * (kMaxGaps + 1);
    s.ring = std::make_unique<Ring>(leases);
    s.given.reset(leases);
    // A sink that drops must leave the source enough blocks to continue.
    limit_ = hold_ == 0 && drop_ ? std::max<std::size_t>(pool.count() / 2, 1) : hold_;
    open_ = true;
    try {
        if (!s.sink->prepare(info, *blocks, s.cancel.fd(), why))
            return false;
        s.cancel.clear(); // from here on it belongs to a blocked submit()
        s.threaded = s.sink->may_block() || s.stage != nullptr;
        return true;
    } catch (...) {
        throw current_error(s.sink->fault());
    }
}

// For a new stream. In place: other threads may call stats() and room(), or cancel, meanwhile.
void SinkWorker::renew()
{
    if (open_ || state_->ring == nullptr)
        return; // it never ran
    if (left_behind_)
        throw Error(state_->sink->fault(), EBUSY, "restart", state_->uri,
                    "it is still stuck in the previous stream");
    state_->renew();
    given_ = 0;
    tail_ = 0;
    dropped_ = high_water_ = 0;
    error_.reset();
}

void SinkWorker::start()
{
    try {
        state_->sink->start();
        state_->cancel.clear(); // as in prepare()
    } catch (...) {
        throw current_error(state_->sink->fault());
    }
    if (state_->threaded)
        worker_ = std::thread([state = state_] { state->run(); });
}

bool SinkWorker::attended()
{
    try {
        return failed() || state_->sink->attended();
    } catch (...) {
        throw current_error(state_->sink->fault());
    }
}

bool SinkWorker::has_room() noexcept
{
    if (limit_ == 0 || drop_ || held() < limit_)
        return true;
    state_->room_wanted.store(true, std::memory_order_seq_cst);
    return held() < limit_; // it may have made room before it could see the flag
}

Error SinkWorker::overdue() const
{
    return {state_->sink->fault(),
            ETIMEDOUT,
            "finish",
            state_->uri,
            "no block was finished within the deadline",
            "--timeout gives a slow sink more time"};
}

void SinkWorker::give(Block filled)
{
    const std::size_t now = held();
    if (failed() || (limit_ != 0 && now >= limit_)) {
        const std::uint64_t samples = filled.bytes() / state_->sample_bytes;
        dropped_.fetch_add(samples, std::memory_order_relaxed);
        tail_ += samples;
        return;
    }
    ++given_;
    tail_ = 0;
    // A block may be back, and come again, before it is counted as finished.
    if (const std::size_t most = std::min(now + 1, blocks_);
        most > high_water_.load(std::memory_order_relaxed))
        high_water_.store(most, std::memory_order_relaxed);
    state_->ring->push(std::move(filled));
}

void SinkWorker::drive(bool satisfied)
{
    SinkWorkerState& s = *state_;
    if (s.threaded || failed())
        return;
    try {
        if (satisfied)
            s.sink->service();
        s.account();
        while (s.take_one())
            ;
    } catch (...) {
        s.fail_with_current();
    }
}

void SinkWorker::repeat()
{
    if (!state_->threaded)
        return flush();
    if (!state_->repeating.exchange(true, std::memory_order_acq_rel))
        state_->ring->call();
}

Wait SinkWorker::wait()
{
    return state_->threaded || failed() ? Wait{} : state_->sink->wait();
}

SinkStats SinkWorker::stats() const noexcept
{
    const SinkWorkerState& s = *state_;
    return {s.delivered.load(std::memory_order_relaxed),
            dropped_.load(std::memory_order_relaxed) + s.discarded.load(std::memory_order_relaxed),
            s.bytes.load(std::memory_order_relaxed),
            high_water_.load(std::memory_order_relaxed),
            s.sink->playback(),
            s.sink->uploads()};
}

} // namespace iio_stream::detail
