// SPDX-License-Identifier: MIT
#include "core/lane.hpp"

#include "core/storage.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace iio_stream::detail {

namespace {

constexpr std::int64_t kGraceNs = 500'000'000; ///< for a cancelled sink to come back
constexpr std::size_t kStageBlocks = 8;

Error not_finished(const LaneState& state)
{
    return {state.sink->fault(), ETIMEDOUT, "finish", state.uri,
            "no block was finished within the deadline",
            "--timeout gives a slow sink more time"};
}

} // namespace

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
    }
}

LaneOptions LaneOptions::from(Options& options)
{
    LaneOptions lane;
    if (const auto full = options.take("on-full")) {
        if (*full != "block" && *full != "drop")
            fail_usage("on-full=" + *full + " is neither block nor drop");
        lane.drop = *full == "drop";
    }
    if (const auto hold = options.take("hold"))
        if (lane.hold = parse_size("hold", *hold); lane.hold == 0)
            fail_usage("hold=0: a sink needs at least one block");
    lane.convert = options.take("convert", "");
    return lane;
}

Lane::Lane(std::unique_ptr<Sink> sink, std::string uri, const LaneOptions& options)
    : state_(std::make_shared<LaneState>()), convert_(options.convert),
      drop_(options.drop.value_or(sink->drops_when_full())), hold_(options.hold)
{
    state_->sink = std::move(sink);
    state_->uri = std::move(uri);
}

Lane::~Lane()
{
    if (worker_.joinable())
        finish(Stop::abort, 0, -1);
}

std::optional<std::vector<Hop>> Lane::plan(const Format& format, const MemoryTraits& traits,
                                           std::string& why)
{
    LaneState& s = *state_;
    if (convert_.empty()) {
        auto hop = s.sink->plan(traits, why);
        if (!hop)
            return std::nullopt;
        hop->from = "block";
        hop->to = s.uri;
        return std::vector<Hop>{*hop};
    }
    s.stage = std::make_unique<Stage>(format, convert_);
    const std::size_t bytes = s.stage->block_bytes(traits.block_bytes);
    std::optional<Hop> best;
    for (const MemoryChoice& choice : memory_choices()) {
        if (!choice.unavailable.empty())
            continue;
        auto hop = s.sink->plan(traits_of(choice.memory, bytes), why);
        const auto cost = [](const Hop& h) { return std::pair{h.copies, h.attached ? 1 : 0}; };
        if (hop && (!best || cost(*hop) < cost(*best) ||
                    (!hop->attached && cost(*hop) == cost(*best)))) {
            best = hop;
            stage_memory_ = choice.memory;
        }
    }
    if (!best)
        return std::nullopt;
    Hop convert;
    convert.from = "block";
    convert.to = "converted";
    convert.mechanism = "convert:" + s.stage->format().name();
    convert.memory = stage_memory_.name();
    convert.copies = 1;
    convert.reason = "convert= was asked for";
    convert.cpu = true;
    best->from = "converted";
    best->to = s.uri;
    return std::vector<Hop>{convert, *best};
}

bool Lane::prepare(const StreamInfo& stream, BlockPool& pool, sys::Event& attention,
                   std::string& why)
{
    LaneState& s = *state_;
    StreamInfo info = stream;
    BlockPool* blocks = &pool;
    if (s.stage) {
        s.stage->prepare(stage_memory_, stream.block_bytes, kStageBlocks);
        info.format = s.stage->format();
        info.block_bytes = s.stage->block_bytes(stream.block_bytes);
        blocks = &s.stage->pool();
    }
    s.sample_bytes = stream.format.sample_bytes;
    s.attention = &attention;
    s.threaded = s.sink->may_block() || s.stage != nullptr;
    s.ring = std::make_unique<Ring>(pool.count());
    s.given.reset(std::max(pool.count(), kStageBlocks));
    return s.sink->prepare(info, *blocks, s.cancel.fd(), why);
}

void Lane::start()
{
    state_->sink->start();
    if (state_->threaded)
        worker_ = std::thread([state = state_] { state->run(); });
}

bool Lane::has_room() noexcept
{
    if (hold_ == 0 || drop_ || held() < hold_)
        return true;
    state_->room_wanted.store(true, std::memory_order_seq_cst);
    return held() < hold_; // it may have made room before it could see the wish
}

void Lane::give(Filled filled)
{
    const std::size_t now = held();
    if (failed() || (hold_ != 0 && now >= hold_)) {
        dropped_.fetch_add(filled.bytes() / state_->sample_bytes, std::memory_order_relaxed);
        return;
    }
    ++given_;
    if (now + 1 > high_water_.load(std::memory_order_relaxed))
        high_water_.store(now + 1, std::memory_order_relaxed);
    state_->ring->push(std::move(filled));
}

void Lane::drive(bool satisfied)
{
    LaneState& s = *state_;
    if (s.threaded || failed())
        return;
    try {
        if (satisfied)
            s.sink->service();
        s.account();
        while (s.take_one())
            ;
    } catch (...) {
        s.fail(current_error(s.sink->fault()));
    }
}

Wait Lane::wait()
{
    return state_->threaded || failed() ? Wait{} : state_->sink->wait();
}

void Lane::finish(Stop how, std::int64_t timeout_ns, int abort_fd)
{
    if (worker_.joinable())
        finish_worker(how, timeout_ns, abort_fd);
    else if (!state_->threaded)
        finish_inline(how, timeout_ns, abort_fd);
    if (!error_ && !left_behind_ && failed())
        error_ = state_->error;
}

void Lane::finish_worker(Stop how, std::int64_t timeout_ns, int abort_fd)
{
    LaneState& s = *state_;
    s.aborting.store(how == Stop::abort, std::memory_order_release);
    s.closing.store(true, std::memory_order_release);
    s.ring->call();
    std::size_t seen = s.finished.load();
    std::int64_t deadline = sys::monotonic_ns() + timeout_ns;
    bool over = false;
    while (how == Stop::drain && !over) {
        pollfd fds[] = {{s.done.fd(), POLLIN, 0}, {abort_fd, POLLIN, 0}};
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0)
            break;
        // Looks up now and then, to see whether blocks are being finished.
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 50)));
        over = fds[0].revents != 0;
        if (fds[1].revents != 0)
            break;
        if (const std::size_t now = s.finished.load(); now != seen) {
            seen = now;
            deadline = sys::monotonic_ns() + timeout_ns;
        }
    }
    if (!over) {
        s.aborting.store(true, std::memory_order_release);
        s.cancel.set();
        s.ring->call();
        over = sys::wait_for(s.done.fd(), POLLIN, sys::monotonic_ns() + kGraceNs);
        if (how == Stop::drain)
            error_ = not_finished(s);
    }
    if (over) {
        worker_.join();
        return;
    }
    // Stuck in the kernel. It owns a share of its state, and of its blocks; nothing waits for it.
    left_behind_ = true;
    worker_.detach();
}

void Lane::finish_inline(Stop how, std::int64_t timeout_ns, int abort_fd)
{
    LaneState& s = *state_;
    std::int64_t deadline = sys::monotonic_ns() + timeout_ns;
    while (how == Stop::drain && !failed() && (s.ring->size() != 0 || s.sink->pending() != 0)) {
        const std::size_t before = s.finished.load();
        drive(true);
        if (s.finished.load() != before) {
            deadline = sys::monotonic_ns() + timeout_ns;
            continue;
        }
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0) {
            s.fail(not_finished(s));
            break;
        }
        const Wait wait = s.sink->wait();
        pollfd fds[] = {{wait.fd, wait.events, 0}, {abort_fd, POLLIN, 0}};
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 50)));
        if (fds[1].revents != 0)
            how = Stop::abort;
    }
    s.close(failed() ? Stop::abort : how);
    s.discard();
}

SinkStats Lane::stats() const noexcept
{
    const LaneState& s = *state_;
    return {s.delivered.load(std::memory_order_relaxed),
            dropped_.load(std::memory_order_relaxed) + s.discarded.load(std::memory_order_relaxed),
            s.bytes.load(std::memory_order_relaxed), high_water_.load(std::memory_order_relaxed)};
}

} // namespace iio_stream::detail
