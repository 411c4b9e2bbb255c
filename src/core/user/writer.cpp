// SPDX-License-Identifier: MIT
#include "iio_stream/writer.hpp"

#include "core/base/text.hpp"
#include "core/loss/sample_tracker.hpp"
#include "core/memory/pool.hpp"
#include "core/user/user_stream.hpp"

#include <cstring>

namespace iio_stream {

namespace detail {

/// A source whose blocks the caller fills.
/// Thread: the members of Source as documented there; put(), end(), held() and the consuming end of
/// the queue on the caller's thread.
class WriterSource final : public Source {
public:
    using Given = EmptyBlock;
    static constexpr bool kOutlastsTheStream =
        false; ///< a block filled after the end would go nowhere

    explicit WriterSource(Format format) : format_(std::move(format)) {}

    Fault fault() const noexcept override { return Fault::other; }
    const Format& format() const noexcept override { return format_; }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "lease";
        hop.cpu = true;
        return hop;
    }
    bool prepare(BlockPool& pool, std::string&) override
    {
        pool_ = pool.pool_;
        pool_->set_format(format_);
        queue.reset(count());
        full_ = std::make_unique<Ring>(count());
        states_ = std::make_unique<std::atomic<State>[]>(count());
        tracker_.reset(format_.sample_bytes);
        pending_ = 0;
        closing_ = false;
        return true;
    }
    void start() override {}
    void stop() noexcept override { queue.close(); }
    void submit(EmptyBlock block, std::size_t) override
    {
        // A block that the caller destroyed without put() is still counted in pending_.
        const State before =
            states_[block.index()].exchange(State::empty, std::memory_order_relaxed);
        pending_ += before == State::out ? 1 : 0;
        queue.push(std::move(block));
    }
    Taken take() override
    {
        const bool closing = closing_.load(std::memory_order_acquire); // read before pop()
        auto filled = full_->pop();
        if (filled) {
            --pending_;
            states_[filled->index()].store(State::out, std::memory_order_relaxed);
            return {std::move(filled), false};
        }
        full_->disarm(true);
        if (closing) // the caller takes no more blocks, and a sink that repeats needs them
            while (queue.pop())
                ;
        return {std::nullopt, closing};
    }
    /// Only the caller has the samples, so they must not be lost.
    bool flush() override { return true; }
    Wait wait() override
    {
        const bool armed = full_->arm();
        return {full_->fd(), POLLIN, 0, !armed || closing_.load(std::memory_order_acquire)};
    }
    std::size_t pending() const noexcept override { return pending_; }
    bool on_timeout(std::optional<std::chrono::nanoseconds>) override
    {
        return false; // the caller may take as much time as it likes
    }

    bool owns(const EmptyBlock& block) const noexcept
    {
        return block.slot_ != nullptr && block.slot_->pool == pool_;
    }
    void taken(std::size_t index) noexcept { states_[index] = State::held; }
    void put(EmptyBlock block, std::size_t bytes)
    {
        states_[block.index()].store(bytes == 0 ? State::empty : State::full,
                                     std::memory_order_relaxed);
        if (bytes == 0)
            return; // the block is only given back
        const BlockInfo info = tracker_.next(bytes, {Clock::monotonic, sys::monotonic_ns(), 0});
        full_->push(std::move(block).fill(info));
    }
    void end() noexcept
    {
        closing_.store(true, std::memory_order_release);
        full_->call();
    }
    std::size_t count() const noexcept { return pool_->count(); }
    std::size_t block_size() const noexcept { return pool_->storage().block_size(); }
    std::size_t held() const noexcept
    {
        std::size_t held = 0;
        for (std::size_t i = 0; i < count(); ++i)
            held += states_[i].load(std::memory_order_relaxed) == State::held ? 1 : 0;
        return held;
    }

    UserQueue<EmptyBlock> queue;
    /// Time between two checks of how many blocks the caller holds.
    std::int64_t timeout_ns = 1'000'000'000;

private:
    /// The state of a slot; out: this source does not have its block.
    enum class State : std::uint8_t { out, empty, held, full };

    Format format_;
    Pool* pool_ = nullptr; ///< owned by the engine until the next prepare()
    std::unique_ptr<Ring> full_;
    std::unique_ptr<std::atomic<State>[]> states_;
    std::size_t pending_ = 0;
    SampleTracker tracker_; ///< used on the caller's thread
    std::atomic<bool> closing_{false};
};

} // namespace detail

struct Writer::Impl : detail::UserStream {
    explicit Impl(Session* with) : UserStream("write", with) {}

    /// Starts the stream if it has not started yet.
    void begin()
    {
        if (!renew() && !running && !done && !closed) {
            session.start();
            (void)renew();
        }
    }
    bool renew()
    {
        if (!renewed())
            return false;
        closed = false;
        put_samples = 0;
        partial.reset();
        return true;
    }
    void check_open()
    {
        if (closed)
            fail_usage("take() or put() after end()", "start() starts another stream");
        if (!source->queue.over())
            return;
        wait_for_end(sys::after(1'000'000'000));
        throw Error(Fault::other, EPIPE, "write", name, "the stream has ended");
    }

    detail::WriterSource* source = nullptr;
    std::optional<EmptyBlock> partial; ///< a block that write() has partly filled
    std::size_t partial_bytes = 0;
    std::uint64_t put_samples = 0;
    bool closed = false;
};

Writer::Writer(PipelineConfig config, Format format)
    : Writer(std::move(config), std::move(format), nullptr)
{}

Writer::Writer(PipelineConfig config, Format format, Session* session)
    : impl_(std::make_unique<Impl>(session))
{
    auto source = std::make_unique<detail::WriterSource>(std::move(format));
    impl_->source = source.get();
    if (config.source.empty())
        config.source = Uri::named("writer");
    for (const Uri& sink : config.sinks)
        detail::add_item(impl_->name, sink.text());
    impl_->add(config, std::move(source), {});
}

Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::start()
{
    impl_->start();
    (void)impl_->renew();
}

Next<EmptyBlock> Writer::take(std::chrono::nanoseconds budget)
{
    impl_->begin();
    if (impl_->closed)
        impl_->check_open();
    auto block = impl_->take(*impl_->source, budget);
    if (block)
        impl_->source->taken(block->index());
    return block;
}

void Writer::put(EmptyBlock block, std::optional<std::size_t> samples)
{
    if (!impl_->source->owns(block))
        fail_usage("put() of a block from another stream",
                   "put() takes blocks from this stream's take()");
    const std::size_t count = samples.value_or(block.samples());
    if (count > block.samples())
        fail_usage(std::to_string(count) + " samples in a block of " +
                   std::to_string(block.samples()));
    impl_->check_open();
    impl_->put_samples += count;
    impl_->source->put(std::move(block), count * format().sample_bytes);
}

std::size_t Writer::write(std::span<const std::byte> samples, std::chrono::nanoseconds budget)
{
    Impl& s = *impl_;
    const std::size_t sample = format().sample_bytes;
    if (samples.size() % sample != 0)
        fail_usage(std::to_string(samples.size()) + " bytes are not a whole number of samples of " +
                   std::to_string(sample) + " bytes");
    s.begin();
    const std::int64_t deadline = sys::after(budget.count());
    std::size_t done = 0;
    while (done < samples.size()) {
        s.check_open();
        if (!s.partial) {
            const std::int64_t left = std::max<std::int64_t>(deadline - sys::monotonic_ns(), 0);
            auto block = take(std::chrono::nanoseconds(left));
            if (!block)
                return done;
            s.partial.emplace(std::move(*block));
            s.partial_bytes = 0;
        }
        const std::size_t room = s.partial->samples() * sample - s.partial_bytes;
        const std::size_t bytes = std::min(room, samples.size() - done);
        {
            const CpuWrite guard{*s.partial};
            std::memcpy(guard.bytes().data() + s.partial_bytes, samples.data() + done, bytes);
        }
        s.partial_bytes += bytes;
        done += bytes;
        if (bytes == room)
            flush();
    }
    return done;
}

void Writer::flush()
{
    if (!impl_->partial || impl_->partial_bytes == 0)
        return;
    EmptyBlock block = std::move(*impl_->partial);
    impl_->partial.reset();
    put(std::move(block), impl_->partial_bytes / format().sample_bytes);
}

void Writer::end()
{
    impl_->begin();
    const bool running = !impl_->closed && !impl_->source->queue.over();
    try {
        if (running)
            flush();
    } catch (const Error&) {
        if (!impl_->source->queue.over())
            throw;
        // The stream has just ended; close() reports the reason.
    }
    impl_->closed = true;
    impl_->source->end();
}

// Stays false until take() has thrown a pending error. Otherwise a caller that checks ended() first
// would miss the error.
bool Writer::ended() const noexcept
{
    return impl_->done;
}
void Writer::stop() noexcept
{
    impl_->pipeline().request_stop();
}

Summary Writer::close()
{
    Impl& s = *impl_;
    s.begin();
    if (s.running && !s.source->queue.over()) {
        end();
        // A sink that repeats never ends by itself, so wait until it has received everything.
        while (s.pipeline().repeats() && stats().samples < s.put_samples &&
               !s.wait_until(sys::after(20'000'000)))
            ;
        if (s.pipeline().repeats())
            s.pipeline().request_stop();
        // Sinks get more time while they make progress. After that, their own deadlines apply.
        for (std::uint64_t before = kUnknown; !s.wait_until(sys::after(2'000'000'000));) {
            std::uint64_t now = 0;
            for (const SinkStats& sink : stats().sinks)
                now += sink.delivered_samples + sink.dropped_samples;
            if (std::exchange(before, now) == now)
                break;
        }
    }
    s.partial.reset();
    s.closed = false;
    return s.UserStream::close();
}

int Writer::fd() const noexcept
{
    return impl_->source->queue.fd();
}
std::size_t Writer::held() const noexcept
{
    return impl_->source->held();
}
std::size_t Writer::block_size() const noexcept
{
    return impl_->source->block_size();
}
std::size_t Writer::block_count() const noexcept
{
    return impl_->source->count();
}
const Format& Writer::format() const noexcept
{
    return impl_->pipeline().format();
}
const std::vector<Hop>& Writer::route() const noexcept
{
    return impl_->pipeline().route();
}
Stats Writer::stats() const
{
    return impl_->pipeline().stats();
}

} // namespace iio_stream
