// SPDX-License-Identifier: MIT
#include "core/stream/sink_driver.hpp"

#include "core/stream/sink_link.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace iio_stream::detail {

void SinkDriver::renew()
{
    ring.reset();
    done.clear();
    latency = {};
    finished = 0;
    room_wanted = closing = aborting = failed = repeating = false;
    delivered = discarded = bytes = missed = 0;
    finished_ns = 0;
    end = {};
    error.reset();
}

void SinkDriver::run()
{
    sys::block_write_signals();
    try {
        serve();
        close(aborting ? Stop::abort : Stop::drain);
    } catch (...) {
        fail_with_current();
        close(Stop::abort);
    }
    discard();
    done.set();
}

void SinkDriver::serve()
{
    bool satisfied = false; // whether service() is due
    while (!aborting.load(std::memory_order_acquire)) {
        if (satisfied)
            sink->service();
        satisfied = false;
        account();
        if (take_one())
            continue;
        // `closing` is set after the last block was given. So once this thread sees it set, the
        // ring has all blocks.
        if (closing.load(std::memory_order_acquire) && waiting_blocks() == 0) {
            if (sink->pending() == 0)
                return;
            sink->flush();
        } else if (repeating.load(std::memory_order_acquire) && waiting_blocks() == 0) {
            sink->flush();
        }
        satisfied = sleep();
    }
}

void SinkDriver::give(Block filled) noexcept
{
    try {
        if (waiting.empty() && sink->ready())
            hand_over(std::move(filled));
        else
            waiting.push(std::move(filled));
    } catch (...) {
        fail_with_current();
    }
}

void SinkDriver::set_threaded(bool on) noexcept
{
    threaded = on;
    while (on && !waiting.empty())
        ring->push(waiting.pop());
    while (auto filled = on ? std::nullopt : ring->pop())
        waiting.push(std::move(*filled));
}

std::size_t SinkDriver::waiting_blocks() const noexcept
{
    return threaded ? ring->size() : waiting.size();
}

bool SinkDriver::take_one()
{
    if (!sink->ready() || (converter && !converter->ready()))
        return false;
    if (!threaded && waiting.empty())
        return false;
    auto filled = threaded ? ring->pop() : std::optional(waiting.pop());
    if (!filled)
        return false;
    hand_over(std::move(*filled));
    return true;
}

void SinkDriver::hand_over(Block filled)
{
    const Time& time = filled.buffer_time();
    const std::int64_t complete_ns = time.clock == Clock::monotonic ? time.ns : 0;
    Given one{complete_ns, filled.bytes() / sample_bytes, filled.bytes()};
    try {
        if (converter)
            filled = converter->process(filled);
        one.bytes = filled.bytes();
        sink->submit(std::move(filled));
    } catch (...) {
        drop(one.samples);
        throw;
    }
    given.push(one);
    account();
}

void SinkDriver::account()
{
    const std::size_t pending = sink->pending();
    if (given.size() <= pending)
        return;
    const std::int64_t now = sys::monotonic_ns();
    finished_ns.store(now, std::memory_order_relaxed);
    while (given.size() > pending) {
        const Given one = given.pop();
        delivered.store(delivered.load(std::memory_order_relaxed) + one.samples,
                        std::memory_order_relaxed);
        bytes.store(bytes.load(std::memory_order_relaxed) + one.bytes, std::memory_order_relaxed);
        if (one.complete_ns != 0) // neither zeros nor the samples of a recording have a time here
            latency.add(now - one.complete_ns);
        finish_one();
    }
    account_missed();
}

// Counts finished samples that the sink missed as discarded.
void SinkDriver::account_missed() noexcept
{
    const std::uint64_t all = delivered.load(std::memory_order_relaxed);
    const std::uint64_t more = std::min(sink->missed() - missed, all);
    if (more == 0)
        return;
    const std::size_t size = converter ? converter->format().sample_bytes : sample_bytes;
    missed += more;
    delivered.store(all - more, std::memory_order_relaxed);
    discarded.store(discarded.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    bytes.store(bytes.load(std::memory_order_relaxed) - more * size, std::memory_order_relaxed);
}

void SinkDriver::finish_one() noexcept
{
    // Sequentially consistent with SinkLink::has_room(): either has_room() sees the room, or this
    // function sees the flag.
    finished.store(finished.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    if (room_wanted.load(std::memory_order_seq_cst) && room_wanted.exchange(false))
        attention->set();
}

// Sleeps until there is something to do. Returns whether service() is due, because the sink's wait
// was satisfied or the longest sleep has passed.
bool SinkDriver::sleep()
{
    const bool want_block = sink->ready() && (!converter || converter->ready());
    const bool want_converter = converter && !converter->ready();
    const bool ring_armed = want_block && ring->arm();
    if (want_block && !ring_armed)
        return false;
    const bool converter_armed = want_converter && converter->pool().arm();
    if (want_converter && !converter_armed)
        return false;
    const Wait wait = sink->wait();
    // The ring's event is always watched, because it signals the request to close as well as new
    // blocks.
    pollfd fds[] = {{ring->fd(), POLLIN, 0},
                    {wait.fd, wait.events, 0},
                    {converter_armed ? converter->pool().fd() : -1, POLLIN, 0}};
    // A sink that waits for a device checks its deadline in service(), so service() must be called
    // from time to time.
    const bool busy = sink->pending() > 0 || repeating.load(std::memory_order_relaxed);
    const int longest_ms = busy ? 500 : -1;
    const int ready = ::poll(fds, 3, longest_ms);
    if (ready < 0 && errno != EINTR)
        throw Error(Fault::other, errno, "poll", uri);
    ring->disarm(fds[0].revents != 0);
    if (converter_armed)
        converter->pool().disarm(fds[2].revents != 0);
    return ready == 0 || fds[1].revents != 0;
}

void SinkDriver::close(Stop how)
{
    try {
        account();
        sink->stop(how, closing.load(std::memory_order_acquire) ? end : StreamEnd{});
        if (how == Stop::drain)
            account(); // blocks that the sink still has after an abort are not delivered
    } catch (...) {
        fail_with_current();
    }
}

void SinkDriver::discard()
{
    while (!given.empty())
        drop(given.pop().samples);
    while (!waiting.empty())
        drop(waiting.pop().bytes() / sample_bytes);
    while (auto filled = ring->pop())
        drop(filled->bytes() / sample_bytes);
    correct_counts();
}

// Corrects the counts of a failed sink. It may have released more than it stored, or have stored
// part of a block.
void SinkDriver::correct_counts() noexcept
{
    const auto stored = sink->stored();
    if (!stored)
        return;
    const std::size_t size = converter ? converter->format().sample_bytes : sample_bytes;
    const std::uint64_t all =
        delivered.load(std::memory_order_relaxed) + discarded.load(std::memory_order_relaxed);
    const std::uint64_t samples = std::min(*stored / size, all);
    delivered.store(samples, std::memory_order_relaxed);
    discarded.store(all - samples, std::memory_order_relaxed);
    bytes.store(samples * size, std::memory_order_relaxed);
}

void SinkDriver::drop(std::uint64_t samples) noexcept
{
    discarded.store(discarded.load(std::memory_order_relaxed) + samples, std::memory_order_relaxed);
    finish_one();
}

void SinkDriver::fail(const Error& what)
{
    if (failed.load(std::memory_order_relaxed))
        return;
    error = what;
    failed.store(true, std::memory_order_release);
    attention->set();
}

void SinkDriver::fail_with_current() noexcept
{
    try {
        fail(current_error(sink->fault()));
    } catch (...) { // there is no memory for the text, but it is still an error
        failed.store(true, std::memory_order_release);
        attention->set();
    }
}

} // namespace iio_stream::detail
