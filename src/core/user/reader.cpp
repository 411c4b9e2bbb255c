// SPDX-License-Identifier: MIT
#include "iio_stream/reader.hpp"

#include "core/memory/pool.hpp"
#include "core/user/sample_reader.hpp"
#include "core/user/user_stream.hpp"

namespace iio_stream {

namespace detail {

/// A sink whose blocks the caller takes. A block counts as delivered when the caller has taken it,
/// or at the end of the stream.
/// Thread: the members of Sink as documented there; taken(), held() and the consuming end of the
/// queue on the caller's thread.
class ReaderSink final : public Sink {
public:
    using Given = Block;
    static constexpr bool kOutlastsTheStream =
        true; ///< blocks that have arrived can be taken after the end

    explicit ReaderSink(OnFull on_full) : drops_(on_full == OnFull::drop) {}

    Fault fault() const noexcept override { return Fault::other; }
    SinkTraits traits() const noexcept override { return {.drops_when_full = drops_}; }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "lease";
        hop.cpu = true;
        return hop;
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int, std::string&) override
    {
        format = stream.format;
        tuning = stream.tuning;
        timeout_ns = stream.timeout_ns;
        pool_ = pool.pool_;
        pool_->set_format(format);
        last_ = false;
        taken_ = std::make_unique<std::atomic<std::uint32_t>[]>(count());
        news_.clear();
        // Room for all leases that a SinkLink can give, because a block can arrive in slices.
        queue.reset(count() * (kMaxGaps + 2));
        return true;
    }
    void submit(Block filled) override { queue.push(std::move(filled)); }
    Wait wait() override { return {news_.fd(), POLLIN}; }
    void service() override { news_.clear(); }
    std::size_t pending() const noexcept override { return last_ ? 0 : queue.size(); }
    void flush() override
    {
        last_ = true;
        news_.set(); // so that a thread that drains the sink checks again at once
    }
    void stop(Stop, const StreamEnd&) override { queue.close(); }

    void taken(std::size_t index) noexcept
    {
        taken_[index].store(pool_->fills(index), std::memory_order_relaxed);
        news_.set();
    }
    std::size_t count() const noexcept { return pool_->count(); }
    std::size_t block_size() const noexcept { return pool_->storage().block_size(); }
    std::size_t held() const noexcept
    {
        std::size_t held = 0;
        for (std::size_t i = 0; i < count(); ++i)
            held += pool_->leased(i, taken_[i].load(std::memory_order_relaxed)) ? 1 : 0;
        return held;
    }

    UserQueue<Block> queue;
    Format format;
    Tuning tuning;
    std::int64_t timeout_ns = 0;

private:
    Pool* pool_ = nullptr; ///< owned by the engine until the next prepare()
    bool drops_;
    bool last_ = false;
    std::unique_ptr<std::atomic<std::uint32_t>[]>
        taken_;       ///< per slot: number of the last fill that the caller took
    sys::Event news_; ///< set when the caller has taken a block
};

} // namespace detail

struct Reader::Impl : detail::UserStream {
    explicit Impl(Session* with) : UserStream("read", with) {}

    void begin()
    {
        if (!renewed() && !running && !done) {
            session.start();
            (void)renewed();
            rest.clear();
        }
    }
    Next<Block> next(std::chrono::nanoseconds budget)
    {
        begin();
        auto filled = take(*sink, budget);
        if (filled)
            sink->taken(filled->index());
        return filled;
    }

    /// Takes the next block for read(). If read() already has samples, an error is not thrown: this
    /// read() returns its samples, and the next one throws the error that ended the stream.
    Next<Block> next_for_read(std::chrono::nanoseconds budget, ReadResult& result)
    {
        try {
            Next<Block> block = next(budget);
            result.ended = block.ended();
            return block;
        } catch (const Error&) {
            if (result.count == 0)
                throw;
            return Next<Block>(Outcome::timeout);
        }
    }

    detail::ReaderSink* sink = nullptr;
    detail::SampleReader rest; ///< a block that read() has partly used
};

Reader::Reader(PipelineConfig config) : Reader(std::move(config), nullptr) {}

Reader::Reader(PipelineConfig config, Session* session) : impl_(std::make_unique<Impl>(session))
{
    auto sink = std::make_unique<detail::ReaderSink>(config.on_full);
    impl_->sink = sink.get();
    impl_->name = config.source.text();
    std::vector<std::unique_ptr<Sink>> sinks(config.sinks.size());
    config.sinks.push_back(Uri::named("reader"));
    sinks.push_back(std::move(sink));
    impl_->add(config, nullptr, std::move(sinks));
}

Reader::Reader(Reader&&) noexcept = default;
Reader::~Reader() = default;

void Reader::start()
{
    impl_->start();
    impl_->rest.clear();
    (void)impl_->renewed();
}

Next<Block> Reader::next(std::chrono::nanoseconds budget)
{
    if (const std::size_t left = impl_->rest.left(); left != 0)
        fail_usage("next() while read() has " + std::to_string(left) + " samples of a block left",
                   "read() them first");
    return impl_->next(budget);
}

ReadResult Reader::read_as(const detail::Type& type, std::span<std::byte> out,
                           std::chrono::nanoseconds budget)
{
    Impl& s = *impl_;
    s.begin();
    s.rest.convert_to(format(), type, out.size());
    const std::int64_t deadline = sys::after(budget.count());
    const std::size_t elements =
        s.rest.out_sample_bytes() / (type.bits / 8 * (type.complex ? 2 : 1));
    ReadResult result;
    while (!out.empty()) {
        if (s.rest.left() == 0) {
            const std::int64_t left = std::max<std::int64_t>(deadline - sys::monotonic_ns(), 0);
            auto block = s.next_for_read(std::chrono::nanoseconds(left), result);
            if (!block)
                break;
            s.rest.begin(std::move(*block));
        }
        const std::size_t samples = s.rest.take(out, result);
        result.count += samples * elements;
        out = out.subspan(samples * s.rest.out_sample_bytes());
    }
    return result;
}

Summary Reader::run(const std::function<void(const Block&)>& each)
{
    for (const Block& block : *this)
        each(block);
    return close();
}

bool Reader::ended() const noexcept
{
    return impl_->done;
}
void Reader::stop() noexcept
{
    impl_->pipeline().request_stop();
}

Summary Reader::close()
{
    impl_->rest.clear();
    return impl_->close();
}

int Reader::fd() const noexcept
{
    return impl_->sink->queue.fd();
}
std::size_t Reader::held() const noexcept
{
    return impl_->sink->held();
}
std::size_t Reader::block_size() const noexcept
{
    return impl_->sink->block_size();
}
std::size_t Reader::block_count() const noexcept
{
    return impl_->sink->count();
}
const Format& Reader::format() const noexcept
{
    return impl_->sink->format;
}
const Tuning& Reader::tuning() const noexcept
{
    return impl_->sink->tuning;
}
const std::vector<Hop>& Reader::route() const noexcept
{
    return impl_->pipeline().route();
}
Stats Reader::stats() const
{
    return impl_->pipeline().stats();
}

} // namespace iio_stream
