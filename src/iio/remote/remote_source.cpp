// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "core/loss/sample_tracker.hpp"
#include "core/memory/fill_deadline.hpp"
#include "core/memory/fill_request.hpp"
#include "iio/context/remote_channels.hpp"
#include "iio/loss/counter.hpp"
#include "iio/options.hpp"
#include "iio/remote/remote.hpp"
#include "iio/remote/remote_buffer.hpp"
#include "iio/tuning/tuner.hpp"
#include "sys/event.hpp"
#include "sys/named_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <poll.h>
#include <thread>
#include <utility>

namespace iio_stream::iio {

namespace {

/// Streams from a remote device's input. libiio's refill() blocks, so it runs on a separate thread.
/// That thread and the source thread use libiio's buffer in turn. Neither libiio nor iiod reports
/// losses, so only counter= detects them.
/// Owns: the buffer and the thread.
class RemoteSource final : public Source {
public:
    RemoteSource(const Device& device, const BufferSettings& settings, Options& options);
    ~RemoteSource() override { stop(); }

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return format_; }
    bool live() const noexcept override { return true; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        blocks_.push({std::move(block), bytes});
    }
    Taken take() override;
    bool flush() override { return flushing_ = true; }
    Wait wait() override
    {
        return blocks_.empty() ? Wait{} : Wait{filled_.fd(), POLLIN, deadline_.until_ns()};
    }
    std::size_t pending() const noexcept override { return blocks_.size(); }
    SourceInfo info() const override { return {.tuning = tuning_}; }
    SourceStats stats() const override;

private:
    void refill_loop() noexcept;
    std::size_t bytes_at_once(std::size_t block_size) const;
    bool copy_next();
    Block hand_out();

    Device device_;
    std::string uri_;
    Tuning tuning_;
    std::string tuning_differs_;
    Format format_;
    std::unique_ptr<Counter> counter_;
    std::int64_t timeout_ns_ = 5'000'000'000;
    std::unique_ptr<RemoteBuffer> buffer_;
    std::size_t at_once_ = 0; ///< size of buffer_ in bytes
    detail::FillQueue blocks_;
    std::size_t done_ = 0;  ///< bytes in the front block
    bool flushing_ = false; ///< a partly filled block is delivered, too
    detail::FillDeadline deadline_;
    detail::SampleTracker tracker_;
    std::thread thread_;
    sys::Event filled_, emptied_; ///< which thread may use buffer_
    std::atomic<bool> stopping_{false};
    std::atomic<std::ptrdiff_t> got_{0}; ///< bytes in the buffer, or -errno
};

RemoteSource::RemoteSource(const Device& device, const BufferSettings& settings, Options& options)
    : device_(device), uri_(settings.uri)
{
    const std::string counter = options.take_or_standard(kSourceOptions["counter"]);
    format_ = choose_channels(device, settings.channels, settings.iq, false);
    Tuner tuner(device, settings.uri, options.take_or_standard(kDeviceOptions["phy"]),
                Direction::receive, format_.channels);
    tuner.take(options);
    tuning_ = tuner.read();
    tuning_differs_ = tuner.differences();
    format_.sample_rate = tuning_.rate.value_or(0);
    counter_ = Counter::make(counter, format_);
}

std::optional<Hop> RemoteSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "libiio";
    hop.copies = 2;
    hop.cpu = true;
    hop.reason = "a remote device (" + uri_ + "): received into libiio's buffer, copied out of it";
    if (!counter_)
        hop.reason += "; libiio reports no losses, and there is no counter=";
    detail::add_clause(hop.reason, tuning_differs_);
    return hop;
}

bool RemoteSource::prepare(BlockPool& pool, std::string&)
{
    at_once_ = bytes_at_once(pool.block_size());
    buffer_ = std::make_unique<RemoteBuffer>(device_, format_, at_once_, false, timeout_ns_);
    blocks_.reset(pool.count());
    done_ = 0;
    flushing_ = false;
    deadline_.reset(format_, pool);
    using detail::LossDetection;
    tracker_.reset(format_.sample_bytes, counter_ ? LossDetection::available : LossDetection::none);
    if (counter_) // without a rate, because a change of the rate cannot be noticed while streaming
        counter_->reset(pool.block_size());
    stopping_ = false;
    filled_.clear();
    emptied_.clear();
    return true;
}

// Divides a block into equal parts that arrive in time (samples_in_time()). Returns the size of one
// part.
std::size_t RemoteSource::bytes_at_once(std::size_t block_size) const
{
    const std::size_t samples = block_size / format_.sample_bytes;
    const double most = detail::samples_in_time(format_);
    if (most >= static_cast<double>(samples))
        return block_size;
    const auto parts =
        static_cast<std::size_t>(std::ceil(static_cast<double>(samples) / std::max(most, 1.0)));
    return std::max<std::size_t>(samples / parts, 1) * format_.sample_bytes;
}

void RemoteSource::start()
{
    thread_ = std::thread([this] {
        const sys::NamedThread name("iios-refill");
        refill_loop();
    });
}

void RemoteSource::stop() noexcept
{
    stopping_ = true;
    emptied_.set();
    if (buffer_)
        buffer_->cancel();
    if (thread_.joinable())
        thread_.join();
    if (buffer_ && counter_)
        counter_->finish(tracker_);
    blocks_.clear();
    buffer_.reset();
}

void RemoteSource::refill_loop() noexcept
{
    while (!stopping_) {
        const std::ptrdiff_t got = buffer_->refill();
        got_.store(got, std::memory_order_release);
        filled_.set();
        if (got < 0)
            return;
        while (!stopping_ &&
               !sys::wait_for(emptied_.fd(), POLLIN, sys::monotonic_ns() + 1'000'000'000))
            ;
        emptied_.clear();
    }
}

Taken RemoteSource::take()
{
    if (blocks_.empty())
        return {};
    bool full = false;
    if (filled_.is_set())
        full = copy_next();
    if (!full && (done_ == 0 || !(flushing_ || deadline_.due() != 0)))
        return {};
    return {hand_out(), false};
}

// Copies the samples that libiio has received into the front block. Copies all of them, even if the
// stream needs fewer; the engine cuts off the rest. Returns false if more samples fit.
bool RemoteSource::copy_next()
{
    const std::ptrdiff_t got = got_.load(std::memory_order_acquire);
    if (got < 0 && flushing_ && done_ != 0)
        return false; // the samples that have arrived matter more
    if (got < 0)
        throw Error(Fault::device, static_cast<int>(-got), "read from", device_.name(), {},
                    "through libiio, " + uri_);
    filled_.clear();
    const detail::FillRequest& front = blocks_.front();
    const std::size_t bytes =
        std::min(front.block.capacity() - done_, static_cast<std::size_t>(got));
    {
        const CpuWrite out{front.block};
        std::memcpy(out.bytes().data() + done_, buffer_->data().data(), bytes);
    }
    emptied_.set();
    done_ += bytes;
    deadline_.filled(done_);
    return done_ >= front.bytes || front.block.capacity() - done_ < at_once_;
}

Block RemoteSource::hand_out()
{
    detail::FillRequest front = blocks_.pop();
    const std::size_t bytes = std::exchange(done_, 0);
    deadline_.filled(0);
    const Time time{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    if (counter_) {
        const CpuRead data{front.block};
        counter_->report_gaps(data.bytes().first(bytes), tracker_, time.ns);
    }
    return std::move(front.block).fill(tracker_.next(bytes, time));
}

SourceStats RemoteSource::stats() const
{
    SourceStats stats;
    if (counter_)
        stats.evidence = {Evidence::counter};
    stats.trailing = tracker_.left();
    return stats;
}

} // namespace

std::unique_ptr<Source> make_remote_source(const Device& device, const BufferSettings& settings,
                                           Options& options)
{
    return std::make_unique<RemoteSource>(device, settings, options);
}

} // namespace iio_stream::iio
