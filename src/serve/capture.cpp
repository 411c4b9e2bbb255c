// SPDX-License-Identifier: MIT
#include "serve/capture.hpp"

#include "core/loss/losses.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio_stream/error.hpp"
#include "serve/device_uri.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>

namespace iio_stream::serve {

namespace {

// Blocks that are reserved for the device while readers hold all the others.
constexpr std::size_t kDeviceBlocks = 8;
// A reader is slower than another one if it has this many blocks more to send. While readers that
// are closer together hold the other blocks, the device uses its own blocks, which are more.
constexpr std::size_t kLead = 6;
static_assert(kLead < kDeviceBlocks);
// Some blocks are left for the queues even if every reader holds its share.
constexpr std::size_t kBlocks = kDeviceBlocks + Capture::kMostHeld + 8;
// The capture has no deadline of its own, because each client sets one with TIMEOUT.
constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::hours(24 * 365);

// Returns a block size. A block holds the samples that the reader requests at a time, or 10 ms of
// samples if that is more, because larger blocks cost less. It is limited to a share of the memory.
std::size_t block_bytes(const iio::BufferDir& dir, const Format& format, std::uint64_t samples,
                        std::size_t memory)
{
    constexpr double kSeconds = 0.010;
    const std::size_t unit = std::lcm(format.sample_bytes, dir.alignment());
    const double most = static_cast<double>(memory / kBlocks);
    const double bytes = static_cast<double>(format.sample_bytes);
    const double rate = iio::sample_rate_of(dir.device_dir(), false).value;
    const double wanted =
        std::min(most, std::max(static_cast<double>(samples), rate * kSeconds) * bytes);
    const std::size_t units = (static_cast<std::size_t>(wanted) + unit - 1) / unit;
    if (unit > memory / kBlocks)
        throw Error(Fault::other, ENOMEM, "make blocks of", std::to_string(unit) + " bytes", {},
                    "a larger --memory");
    return std::max<std::size_t>(1, std::min(units, memory / kBlocks / unit)) * unit;
}

// Returns the maximum number of samples that can arrive in this time. One block is added, because
// the end of a block becomes known late.
std::uint64_t most_samples_in(std::int64_t ns, double rate, std::uint64_t block_samples)
{
    if (rate <= 0)
        return kUnknown;
    return static_cast<std::uint64_t>(static_cast<double>(ns) * 1e-9 * rate) + block_samples;
}

void add(ServedDevice& sum, const Stats& more)
{
    sum.samples += more.samples;
    sum.blocks += more.blocks;
    detail::add_totals(sum.gaps, more.gaps);
}

} // namespace

/// The sink of the pipeline. It gives the blocks to the readers, which hold them as long as they
/// need them; the pipeline waits while they hold all of them.
/// Thread: as for each sink.
class Capture::Output final : public Sink {
public:
    explicit Output(Capture& capture) : capture_(capture) {}

    Fault fault() const noexcept override { return Fault::other; }
    SinkTraits traits() const noexcept override { return {}; }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "lease";
        hop.cpu = true;
        return hop;
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int, std::string&) override
    {
        run_ = std::make_shared<CaptureRun>();
        run_->format = stream.format;
        run_->most_held = pool.count() - std::min(kDeviceBlocks, pool.count() / 2);
        return true;
    }
    void submit(Block filled) override { capture_.deliver(std::move(filled)); }
    void stop(Stop, const StreamEnd& end) override { capture_.finish(end.error); }

    const std::shared_ptr<CaptureRun>& run() const noexcept { return run_; }

private:
    Capture& capture_;
    std::shared_ptr<CaptureRun> run_;
};

Capture::Capture(std::string id, std::size_t memory) : id_(std::move(id)), memory_(memory)
{
    past_.id = id_;
}

Capture::~Capture()
{
    end();
}

std::shared_ptr<ReaderQueue> Capture::join(const Wanted& wanted)
{
    const std::lock_guard control(control_);
    const iio::BufferDir dir(id_, id_, 0);
    auto queue = std::make_shared<ReaderQueue>(dir.choose(joined(wanted.channels), iio::Iq::off));
    std::vector<std::string> all, before;
    const bool running = running_;
    {
        const std::lock_guard lock(mutex_);
        if (reader_queues_.size() == kMostReaders)
            throw Error(Fault::other, EBUSY, "read", id_,
                        "it already has " + std::to_string(kMostReaders) + " readers");
        before = channels_;
        in_place_ = wanted.in_place || (in_place_ && !reader_queues_.empty());
    }
    const auto in = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const Channel& element : dir.elements()) // in scan order
        if (in(before, element.id) || in(wanted.channels, element.id))
            all.push_back(element.id);
    const bool starts = !running || all != before;
    if (starts)
        end();
    {
        const std::lock_guard lock(mutex_);
        reader_queues_.push_back(queue);
        readers_ = reader_queues_.size();
        if (!starts) { // the other readers may hold all blocks
            make_room();
            return queue;
        }
    }
    try {
        start(all, wanted.samples);
    } catch (...) {
        remove(queue);
        if (running)
            restart(before, wanted.samples);
        throw;
    }
    return queue;
}

// Returns false if it was the last one.
bool Capture::remove(const std::shared_ptr<ReaderQueue>& queue) noexcept
{
    const std::lock_guard lock(mutex_);
    std::erase(reader_queues_, queue);
    readers_ = reader_queues_.size();
    return !reader_queues_.empty();
}

void Capture::leave(const std::shared_ptr<ReaderQueue>& queue) noexcept
{
    const std::lock_guard control(control_);
    if (!remove(queue))
        end();
}

// The reader that takes a block can be the first that is faster than another one.
SharedBlock Capture::take(ReaderQueue& queue)
{
    SharedBlock taken = queue.take();
    if (taken != nullptr && taken->run->held > taken->run->most_held) {
        const std::lock_guard lock(mutex_);
        make_room();
    }
    return taken;
}

void Capture::start(const std::vector<std::string>& channels, std::uint64_t samples)
{
    const iio::BufferDir dir(id_, id_, 0);
    const std::size_t block =
        block_bytes(dir, dir.choose(joined(channels), iio::Iq::off), samples, memory_);
    PipelineConfig config{.source = uri_of(id_, channels),
                          .sinks = {Uri::named("reader")},
                          .block_size = block,
                          .blocks = kBlocks,
                          .timeout = kNoDeadline};
    auto [session, run] = prepare(config);
    std::int64_t last_ns = 0;
    {
        const std::lock_guard lock(mutex_);
        run->number = ++runs_;
        run_ = run;
        channels_ = channels;
        past_.route = (*session)[0].route();
        last_ns = std::exchange(last_ns_, sys::monotonic_ns());
        for (const auto& queue : reader_queues_)
            queue->begin_capture();
    }
    running_ = true;
    try {
        session->start();
    } catch (...) {
        running_ = false;
        const std::lock_guard lock(mutex_);
        channels_.clear();
        throw;
    }
    const std::int64_t pause = sys::monotonic_ns() - last_ns;
    {
        const std::lock_guard lock(mutex_);
        session_ = std::move(session);
        past_.starts += 1;
        for (const auto& queue : reader_queues_)
            queue->add_pause(
                most_samples_in(pause, run->format.sample_rate, block / run->format.sample_bytes));
    }
    ending_ = false;
    if (!running_) // it has ended before finish() could see that
        fail(ended_early());
}

// Network cards can read udmabufs in place, but not memory from a dma-heap. If the device cannot
// fill udmabufs without a copy, or no card reads in place, the engine chooses the memory.
Capture::Prepared Capture::prepare(const PipelineConfig& config)
{
    const auto with = [this](const PipelineConfig& chosen) {
        auto output = std::make_unique<Output>(*this);
        const Output& added = *output;
        std::vector<std::unique_ptr<Sink>> sinks;
        sinks.push_back(std::move(output));
        auto session = std::make_unique<Session>();
        session->add(chosen, nullptr, std::move(sinks));
        session->prepare();
        return Prepared{std::move(session), added.run()};
    };
    if (!in_place_)
        return with(config);
    PipelineConfig with_udmabufs = config;
    with_udmabufs.source.options.set("memory", "udmabuf");
    try {
        Prepared prepared = with(with_udmabufs);
        if ((*prepared.session)[0].route().front().copies == 0)
            return prepared;
    } catch (const Error&) {
        // The second attempt reports the error, too, if the memory is not its cause.
    }
    return with(config);
}

// Restarts the capture with the channels of the other readers, which worked before.
void Capture::restart(const std::vector<std::string>& channels, std::uint64_t samples) noexcept
try {
    start(channels, samples);
} catch (const Error& error) {
    fail(error);
} catch (const std::exception& error) {
    fail(Error(Fault::other, ENOMEM, "capture", id_, error.what()));
}

void Capture::end() noexcept
{
    ending_ = true;
    if (session_ != nullptr)
        try {
            session_->stop();
        } catch (const Error&) { // an error of the device, already reported to its readers
        }
    const std::lock_guard lock(mutex_);
    for (const auto& queue : reader_queues_)
        queue->end_capture(); // otherwise a slow reader could hold the memory of many captures
    if (session_ != nullptr)
        add(past_, (*session_)[0].summary().stats);
    session_.reset();
    channels_.clear();
}

// A block that a reader is being sent stays until it is sent.
void Capture::deliver(Block block)
{
    const std::lock_guard lock(mutex_);
    last_ns_ = sys::monotonic_ns();
    const auto shared = std::make_shared<const CapturedBlock>(std::move(block), run_);
    for (const auto& queue : reader_queues_)
        queue->add(shared);
    if (!make_room())
        past_.waits += 1;
}

// Drops blocks of slow readers while readers hold too many. Returns false if no reader is slower
// than the others: then the device has to wait until one of them has sent a block.
bool Capture::make_room()
{
    while (run_->held > run_->most_held)
        if (!drop_oldest_of_slow(reader_queues_, kLead))
            return false;
    return true;
}

void Capture::finish(const std::optional<Error>& error)
{
    running_ = false;
    if (!ending_)
        fail(error.value_or(ended_early()));
}

Error Capture::ended_early() const
{
    return {Fault::device, EIO, "capture", id_, "the stream has ended"};
}

void Capture::fail(const Error& error)
{
    const std::lock_guard lock(mutex_);
    for (const auto& queue : reader_queues_)
        queue->fail(error);
}

ServedDevice Capture::stats() const
{
    const std::lock_guard lock(mutex_);
    ServedDevice now = past_;
    now.readers = reader_queues_.size();
    now.channels = channels_;
    if (session_ != nullptr)
        add(now, (*session_)[0].stats());
    return now;
}

} // namespace iio_stream::serve
