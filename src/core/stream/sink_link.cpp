// SPDX-License-Identifier: MIT
#include "core/stream/sink_link.hpp"

#include "core/base/text.hpp"
#include "core/memory/memory_backend.hpp"
#include "core/options/common_options.hpp"
#include "iio_stream/units.hpp"
#include "sys/named_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <utility>

namespace iio_stream::detail {

namespace {

constexpr std::size_t kConverterBlocks = 8;
constexpr std::int64_t kGraceNs = 500'000'000; ///< time for a cancelled sink to return
constexpr const char *kConverted = "converted", *kCopied = "copied"; ///< names in a route

} // namespace

bool begins_at_converter(const Hop& hop)
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
        return {fault, EIO, "", "", "unknown exception"};
    }
}

SinkLinkOptions SinkLinkOptions::from(Options& options)
{
    SinkLinkOptions taken;
    if (const auto full = options.take(kCommon["on-full"]))
        taken.drop = *full == "drop";
    if (const auto hold = options.take_memory_size(kCommon["hold"]))
        if (taken.hold = *hold; taken.hold == 0)
            fail_usage("hold=0: a sink needs at least one block");
    taken.convert = options.take(kCommon["convert"]).value_or("");
    return taken;
}

SinkLink::SinkLink(std::unique_ptr<Sink> sink, std::string uri, const SinkLinkOptions& options)
    : state_(std::make_shared<SinkDriver>()),
      convert_(options.convert),
      channels_(options.channels),
      drop_(options.drop.value_or(sink->traits().drops_when_full)),
      repeats_(sink->traits().repeats),
      hold_(options.hold)
{
    state_->sink = std::move(sink);
    state_->uri = std::move(uri);
}

SinkLink::~SinkLink()
{
    abandon();
}

std::optional<std::vector<Hop>> SinkLink::plan(const Format& format, const MemoryTraits& traits,
                                               std::string& why, const std::string& taken_by)
{
    renew();
    state_->converter.reset();
    if (!convert_.empty() || !channels_.empty() || !state_->sink->conversion_of(format).to.empty())
        return plan_converted(format, traits, why, taken_by);
    auto hop = state_->sink->plan(traits, why);
    if (!hop)
        return std::nullopt;
    if (hop->attached && !taken_by.empty())
        return plan_converted(format, traits, why, taken_by);
    hop->from = "block";
    hop->to = state_->uri;
    return std::vector<Hop>{*hop};
}

// Like plan(), but through blocks of a BlockConverter.
std::optional<std::vector<Hop>> SinkLink::plan_converted(const Format& format,
                                                         const MemoryTraits& traits,
                                                         std::string& why,
                                                         const std::string& taken_by)
{
    SinkDriver& s = *state_;
    std::string convert = convert_, reason = convert_.empty() ? "" : "convert= was given";
    if (!channels_.empty())
        add_clause(reason, "channels= was given");
    if (convert_.empty()) {
        Format given = channels_.empty() ? format : chosen_channels(format, channels_);
        given.lay_out(); // without the other channels
        const Conversion needed = s.sink->conversion_of(given);
        convert = needed.to;
        if (!convert.empty())
            add_clause(reason, needed.reason);
    }
    const bool copies_only = reason.empty();
    s.converter = copies_only ? std::make_unique<BlockConverter>(format)
                              : std::make_unique<BlockConverter>(format, channels_, convert);
    const std::size_t bytes = s.converter->block_size(traits.block_size);
    std::optional<Hop> best;
    for (const MemoryChoice& choice : memory_choices()) {
        if (!choice.unavailable.empty())
            continue;
        auto hop = s.sink->plan(traits_of(choice.memory, bytes), why);
        const auto cost = [](const Hop& h) { return std::pair{h.copies, h.attached ? 1 : 0}; };
        if (hop &&
            (!best || cost(*hop) < cost(*best) || (!hop->attached && cost(*hop) == cost(*best)))) {
            best = hop;
            converter_memory_ = choice.memory;
        }
    }
    if (!best)
        return std::nullopt;
    Hop converter;
    converter.from = "block";
    converter.to = copies_only ? kCopied : kConverted;
    converter.mechanism = copies_only       ? "copy"
                          : convert.empty() ? "select:" + channels_
                                            : "convert:" + s.converter->format().name();
    converter.memory = converter_memory_.name();
    converter.page_bytes = traits_of(converter_memory_, bytes).page_bytes;
    converter.copies = 1;
    converter.reason =
        copies_only ? taken_by + " has the blocks, and only one device can have them" : reason;
    converter.cpu = true;
    best->from = converter.to;
    best->to = s.uri;
    return std::vector<Hop>{converter, *best};
}

bool SinkLink::prepare(const StreamInfo& stream, BlockPool& pool,
                       std::shared_ptr<sys::Event> attention, std::string& why)
{
    SinkDriver& s = *state_;
    StreamInfo info = stream;
    info.drops = drop_;
    info.cancel_start = s.cancel_start.fd();
    BlockPool* blocks = &pool;
    if (s.converter) {
        s.converter->prepare(converter_memory_, stream.block_size, kConverterBlocks);
        info.format = s.converter->format();
        info.block_size = s.converter->block_size(stream.block_size);
        info.total_bytes = s.converter->block_size(stream.total_bytes);
        blocks = &s.converter->pool();
    }
    s.sample_bytes = stream.format.sample_bytes;
    s.attention = std::move(attention);
    // A block with gaps can come as one slice before each gap and one after the last gap.
    blocks_ = pool.count();
    const std::size_t leases = std::max(pool.count(), kConverterBlocks) * (kMaxGaps + 1);
    s.ring = std::make_unique<Ring>(leases);
    s.given.reset(leases);
    s.waiting.reset(leases);
    // A sink that drops must leave the source enough blocks to continue.
    limit_ = hold_ == 0 && drop_ ? std::max<std::size_t>(pool.count() / 2, 1) : hold_;
    open_ = true;
    started_ = false;
    try {
        if (!s.sink->prepare(info, *blocks, s.cancel.fd(), why))
            return false;
        s.cancel_start.clear();
        const SinkTraits traits = s.sink->traits();
        finish_timeout_ns_ = traits.finish_timeout_ns;
        s.threaded = traits.may_block || s.converter != nullptr;
        return true;
    } catch (...) {
        throw current_error(s.sink->fault());
    }
}

// Resets the link for a new stream. It works in place, because other threads can call stats(),
// free_space_left() or cancel_start() meanwhile.
void SinkLink::renew()
{
    if (open_ || state_->ring == nullptr)
        return; // the link never ran
    if (left_behind_)
        throw Error(state_->sink->fault(), EBUSY, "restart", state_->uri,
                    "it is still stuck in the previous stream");
    state_->renew();
    given_ = 0;
    tail_ = 0;
    dropped_ = high_water_ = 0;
    error_.reset();
}

void SinkLink::start()
{
    try {
        state_->sink->start();
        state_->cancel_start.clear();
    } catch (...) {
        throw current_error(state_->sink->fault());
    }
    started_ = true;
    if (state_->threaded)
        start_thread();
}

void SinkLink::start_thread()
{
    state_->set_threaded(true);
    thread_ = std::thread([state = state_] {
        // "iios-file" for file:PATH; two sinks of one scheme share the name and are added up.
        char text[16];
        const auto scheme = static_cast<int>(state->uri.find(':'));
        std::snprintf(text, sizeof text, "iios-%.*s", scheme, state->uri.c_str());
        const sys::NamedThread name(text);
        state->run();
    });
}

bool SinkLink::has_receiver()
{
    try {
        return failed() || state_->sink->has_receiver();
    } catch (...) {
        throw current_error(state_->sink->fault());
    }
}

bool SinkLink::has_room() noexcept
{
    if (limit_ == 0 || drop_ || held() < limit_)
        return true;
    state_->room_wanted.store(true, std::memory_order_seq_cst);
    return held() < limit_; // the sink may have made room before it could see the flag
}

Error SinkLink::overdue() const
{
    if (const std::int64_t limit_ns = finish_timeout_ns_; limit_ns != 0)
        return {state_->sink->fault(),
                ETIMEDOUT,
                "finish",
                state_->uri,
                "the storage has not stored a block, or closed the file, for " +
                    std::to_string(limit_ns / 1'000'000'000) + " s",
                "iio-stream recover makes a valid recording of what is there"};
    return {state_->sink->fault(),
            ETIMEDOUT,
            "finish",
            state_->uri,
            "no block was finished within the deadline",
            "--timeout gives a slow sink more time"};
}

void SinkLink::give(Block filled)
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
    // A block can come back and be given again before it is counted as finished.
    if (const std::size_t most = std::min(now + 1, blocks_);
        most > high_water_.load(std::memory_order_relaxed))
        high_water_.store(most, std::memory_order_relaxed);
    if (state_->threaded)
        state_->ring->push(std::move(filled));
    else
        state_->give(std::move(filled));
}

void SinkLink::drive(bool satisfied)
{
    SinkDriver& s = *state_;
    if (s.threaded || !started_ || failed())
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

void SinkLink::repeat()
{
    if (!state_->threaded)
        return flush();
    if (!state_->repeating.exchange(true, std::memory_order_acq_rel))
        state_->ring->call();
}

Wait SinkLink::wait()
{
    return state_->threaded || failed() ? Wait{} : state_->sink->wait();
}

void SinkLink::finish(Stop how, const FinishLimits& limits, int abort_fd, StreamEnd end)
{
    if (!std::exchange(open_, false))
        return;
    if (!started_)
        how = Stop::abort;
    state_->end = std::move(end);
    state_->end.dropped = failed() ? 0 : tail_;
    state_->aborting.store(how == Stop::abort, std::memory_order_release);
    state_->closing.store(true, std::memory_order_release);
    const FinishLimits own{finish_timeout_ns(limits.timeout_ns), limits.hurry};
    // Storage can block for so long that a separate thread must wait for it. That thread can be
    // left behind.
    if (!thread_.joinable() && how == Stop::drain && !failed() && finish_timeout_ns_ != 0)
        try {
            start_thread();
        } catch (const std::system_error&) {
            state_->set_threaded(false); // this thread waits for the storage
        }
    if (thread_.joinable())
        finish_threaded(how, own, abort_fd);
    else
        finish_inline(how, own, abort_fd);
    if (!error_ && !left_behind_ && failed())
        error_ = state_->error;
}

void SinkLink::abandon() noexcept
{
    try {
        finish(Stop::abort, {0, nullptr}, -1, {});
    } catch (...) {
    }
}

SinkStats SinkLink::stats() const noexcept
{
    const SinkDriver& s = *state_;
    SinkCounters own = s.sink->counters();
    return {s.delivered.load(std::memory_order_relaxed),
            dropped_.load(std::memory_order_relaxed) + s.discarded.load(std::memory_order_relaxed),
            s.bytes.load(std::memory_order_relaxed),
            high_water_.load(std::memory_order_relaxed),
            own.playback,
            own.uploads};
}

void SinkLink::finish_threaded(Stop how, const FinishLimits& limits, int abort_fd)
{
    SinkDriver& s = *state_;
    s.ring->call();
    std::uint64_t seen = s.finished.load() + s.sink->progress();
    std::int64_t deadline = sys::after(limits.timeout_ns);
    bool over = false;
    while (how == Stop::drain && !over) {
        pollfd fds[] = {{s.done.fd(), POLLIN, 0}, {abort_fd, POLLIN, 0}};
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0) {
            error_ = overdue();
            break;
        }
        // Wakes up from time to time to see whether blocks are being finished.
        (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 50)));
        over = fds[0].revents != 0;
        if (fds[1].revents != 0)
            break;
        if (const std::uint64_t now = s.finished.load() + s.sink->progress();
            now != seen || waits_for_peer(limits)) {
            seen = now;
            deadline = sys::after(limits.timeout_ns);
        }
    }
    if (!over) {
        s.aborting.store(true, std::memory_order_release);
        s.cancel.set();
        s.ring->call();
        over = sys::wait_for(s.done.fd(), POLLIN, sys::after(kGraceNs));
    }
    if (over) {
        thread_.join();
        s.discard(); // blocks given while the sink was failing
        s.cancel.clear();
        return;
    }
    // The thread is stuck in the kernel. It shares ownership of its state and its blocks, and
    // nothing waits for it.
    if (!error_)
        error_ = overdue();
    left_behind_ = true;
    thread_.detach();
}

void SinkLink::finish_inline(Stop how, const FinishLimits& limits, int abort_fd)
{
    SinkDriver& s = *state_;
    std::int64_t deadline = sys::after(limits.timeout_ns);
    while (how == Stop::drain && !failed() && (s.waiting_blocks() != 0 || s.sink->pending() != 0)) {
        const std::size_t before = s.finished.load();
        drive(true);
        flush();
        if (s.finished.load() != before) {
            deadline = sys::after(limits.timeout_ns);
            continue;
        }
        if (waits_for_peer(limits))
            deadline = sys::after(limits.timeout_ns);
        const std::int64_t left = deadline - sys::monotonic_ns();
        if (left <= 0) {
            s.fail(overdue());
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

void SinkLink::flush()
{
    try {
        if (!failed() && state_->waiting_blocks() == 0)
            state_->sink->flush();
    } catch (...) {
        state_->fail_with_current();
    }
}

bool SinkLink::waits_for_peer(const FinishLimits& limits) const noexcept
{
    return limits.hurry != nullptr && !limits.hurry->load(std::memory_order_acquire) &&
           !link().connected;
}

} // namespace iio_stream::detail
