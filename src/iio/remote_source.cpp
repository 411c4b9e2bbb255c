// SPDX-License-Identifier: MIT
#include "core/order.hpp"
#include "core/sample_tracker.hpp"
#include "core/text.hpp"
#include "iio/counter.hpp"
#include "iio/options.hpp"
#include "iio/remote.hpp"
#include "iio/remote_buffer.hpp"
#include "iio/remote_format.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <thread>

namespace iio_stream::iio {

namespace {

/// Streams from a remote device's input. libiio's refill() blocks, so it runs on a thread of its
/// own; that and the source thread use libiio's buffer in turn. Neither libiio nor iiod reports
/// losses: only counter= detects them.
/// Owns: the buffer and that thread.
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
    Wait wait() override { return blocks_.empty() ? Wait{} : Wait{filled_.fd(), POLLIN}; }
    std::size_t pending() const noexcept override { return blocks_.size(); }
    Tuning tuning() const override { return tuning_; }
    SourceStats stats() const override;

private:
    void refill_loop() noexcept;

    Device device_;
    std::string uri_;
    Tuning tuning_;
    std::string tuning_differs_;
    Format format_;
    std::unique_ptr<Counter> counter_;
    std::int64_t timeout_ns_ = 5'000'000'000;
    std::unique_ptr<RemoteBuffer> buffer_;
    detail::Orders blocks_;
    detail::SampleTracker tracker_;
    std::thread thread_;
    sys::Event filled_, emptied_; ///< whose turn it is
    std::atomic<bool> stopping_{false};
    std::atomic<std::ptrdiff_t> got_{0}; ///< bytes in the buffer, or -errno
};

RemoteSource::RemoteSource(const Device& device, const BufferSettings& settings, Options& options)
    : device_(device), uri_(settings.uri)
{
    if (settings.path != Path::automatic)
        fail_usage("path= needs a local device; " + uri_ + " streams through libiio");
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
    buffer_ =
        std::make_unique<RemoteBuffer>(device_, format_, pool.block_size(), false, timeout_ns_);
    blocks_.reset(pool.count());
    using Losses = detail::SampleTracker::Losses;
    tracker_.reset(format_.sample_bytes, counter_ ? Losses::told : Losses::untold);
    if (counter_) // without a rate: whether it is still the same cannot be asked while streaming
        counter_->reset(pool.block_size());
    stopping_ = false;
    filled_.clear();
    emptied_.clear();
    return true;
}

void RemoteSource::start()
{
    thread_ = std::thread([this] { refill_loop(); });
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
        counter_->conclude(tracker_);
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
    if (blocks_.empty() || !filled_.is_set())
        return {};
    const std::ptrdiff_t got = got_.load(std::memory_order_acquire);
    if (got < 0)
        throw Error(Fault::device, static_cast<int>(-got), "read from", device_.name(), {},
                    "through libiio, " + uri_);
    filled_.clear();
    detail::Order empty = blocks_.pop();
    const std::size_t bytes = std::min(empty.bytes, static_cast<std::size_t>(got));
    {
        const CpuWrite out{empty.block};
        std::memcpy(out.bytes().data(), buffer_->data().data(), bytes);
    }
    const Time time{Clock::monotonic, sys::monotonic_ns(), std::nullopt};
    if (counter_)
        counter_->look(buffer_->data().first(bytes), tracker_, time.ns);
    emptied_.set();
    return {std::move(empty.block).fill(tracker_.next(bytes, time)), false};
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
