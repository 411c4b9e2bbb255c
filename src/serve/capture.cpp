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
constexpr std::size_t kFewestBlocks =
                          kDeviceBlocks + Capture::kMostReaders * Capture::kMostHeld + 8,
                      kMostBlocks = 64;
// The capture has no deadline of its own, because each client sets one with TIMEOUT.
constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::hours(24 * 365);

// Returns a block size. A block holds the samples that the reader requests at a time, or 10 ms of
// samples if that is more, because larger blocks cost less. It is limited to a share of the memory.
std::size_t block_bytes(const iio::BufferDir& dir, const Format& format, std::uint64_t samples,
                        std::size_t memory)
{
    constexpr double kSeconds = 0.010;
    const std::size_t unit = std::lcm(format.sample_bytes, dir.alignment());
    const double most = static_cast<double>(memory / kFewestBlocks);
    const double bytes = static_cast<double>(format.sample_bytes);
    const double rate = iio::sample_rate_of(dir.device_dir(), false).value;
    const double wanted =
        std::min(most, std::max(static_cast<double>(samples), rate * kSeconds) * bytes);
    const std::size_t units = (static_cast<std::size_t>(wanted) + unit - 1) / unit;
    if (unit > memory / kFewestBlocks)
        throw Error(Fault::other, ENOMEM, "make blocks of", std::to_string(unit) + " bytes", {},
                    "a larger --memory");
    return std::max<std::size_t>(1, std::min(units, memory / kFewestBlocks / unit)) * unit;
}

// Network cards can read udmabufs in place, but not memory from a dma-heap. If the device cannot
// fill udmabufs without a copy, the engine chooses the memory.
std::unique_ptr<Reader> reader_of(const PipelineConfig& config)
{
    PipelineConfig in_place = config;
    in_place.source.options.set("memory", "udmabuf");
    try {
        auto reader = std::make_unique<Reader>(in_place);
        if (reader->route().front().copies == 0)
            return reader;
    } catch (const Error&) {
        // The second Reader reports the error, too, if the memory is not its cause.
    }
    return std::make_unique<Reader>(config);
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

Capture::Capture(std::string id, std::size_t memory) : id_(std::move(id)), memory_(memory)
{
    past_.id = id_;
}

Capture::~Capture()
{
    end();
}

std::shared_ptr<ReaderQueue> Capture::join(const std::vector<std::string>& channels,
                                           std::uint64_t samples)
{
    const std::lock_guard control(control_);
    const iio::BufferDir dir(id_, id_, 0);
    auto queue = std::make_shared<ReaderQueue>(dir.choose(joined(channels), iio::Iq::off));
    std::vector<std::string> all, before;
    const bool running = running_;
    {
        const std::lock_guard lock(mutex_);
        if (reader_queues_.size() == kMostReaders)
            throw Error(Fault::other, EBUSY, "read", id_,
                        "it already has " + std::to_string(kMostReaders) + " readers");
        before = channels_;
    }
    const auto in = [](const std::vector<std::string>& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const Channel& element : dir.elements()) // in scan order
        if (in(before, element.id) || in(channels, element.id))
            all.push_back(element.id);
    if (!running || all != before) {
        end();
        try {
            start(all, samples);
        } catch (...) {
            if (running)
                restart(before, samples);
            throw;
        }
    }
    const std::lock_guard lock(mutex_);
    reader_queues_.push_back(queue);
    return queue;
}

void Capture::leave(const std::shared_ptr<ReaderQueue>& queue) noexcept
{
    const std::lock_guard control(control_);
    bool last = false;
    {
        const std::lock_guard lock(mutex_);
        std::erase(reader_queues_, queue);
        last = reader_queues_.empty();
    }
    if (last)
        end();
}

void Capture::start(const std::vector<std::string>& channels, std::uint64_t samples)
{
    const iio::BufferDir dir(id_, id_, 0);
    const std::size_t block =
        block_bytes(dir, dir.choose(joined(channels), iio::Iq::off), samples, memory_);
    const std::size_t blocks = std::clamp(memory_ / block, kFewestBlocks, kMostBlocks);
    auto reader = reader_of({.source = uri_of(id_, channels),
                             .block_size = block,
                             .blocks = blocks,
                             .timeout = kNoDeadline});
    reader->start();
    ending_ = false;
    const std::lock_guard lock(mutex_); // the thread waits for it before its first block or error
    thread_ = std::thread([this, &pumped = *reader] {
        pump(pumped);
        running_ = false;
    });
    reader_ = std::move(reader);
    past_.route = reader_->route();
    channels_ = channels;
    most_held_ = blocks - kDeviceBlocks;
    past_.starts += 1;
    const std::int64_t now = sys::monotonic_ns();
    const Format& format = reader_->format();
    for (const auto& queue : reader_queues_)
        queue->restart(
            most_samples_in(now - last_ns_, format.sample_rate, block / format.sample_bytes));
    last_ns_ = now;
    running_ = true;
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
    if (thread_.joinable()) {
        ending_ = true;
        reader_->stop();
        thread_.join();
    }
    const std::lock_guard lock(mutex_);
    for (const auto& queue : reader_queues_)
        queue->end_capture(); // otherwise a slow reader could hold the memory of many captures
    if (reader_ != nullptr)
        try {
            add(past_, reader_->close().stats);
        } catch (const Error&) { // an error of the device, already reported to its readers
        }
    reader_.reset();
    channels_.clear();
}

void Capture::pump(Reader& reader)
try {
    while (const auto next = reader.next())
        deliver(reader, *next);
    if (!ending_)
        fail(Error(Fault::device, EIO, "capture", id_, "the stream has ended"));
} catch (const Error& error) {
    fail(error);
} catch (const std::exception& error) {
    fail(Error(Fault::other, ENOMEM, "capture", id_, error.what()));
}

// Only slow readers hold the oldest blocks, so dropping these does not affect other readers.
void Capture::deliver(Reader& reader, const Block& block)
{
    const std::lock_guard lock(mutex_);
    last_ns_ = sys::monotonic_ns();
    for (const auto& queue : reader_queues_)
        queue->add(block);
    while (reader.held() > most_held_) {
        std::optional<std::uint64_t> oldest;
        for (const auto& queue : reader_queues_)
            if (const auto its = queue->oldest())
                oldest = std::min(oldest.value_or(*its), *its);
        if (!oldest)
            return;
        for (const auto& queue : reader_queues_)
            if (queue->oldest() == oldest)
                queue->drop_oldest();
    }
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
    if (reader_ != nullptr)
        add(now, reader_->stats());
    return now;
}

} // namespace iio_stream::serve
