// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "check/options.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <poll.h>
#include <utility>

namespace iio_stream::check {

namespace {

/// Counts samples and discards them; slows down or stalls on request, to test backpressure.
class NullSink final : public Sink {
public:
    explicit NullSink(Options& options)
    {
        rate_ = options.take_rate(kNullOptions["rate"]).value_or(0);
        stall_at_ = options.take_size(kNullOptions["stall_at"]).value_or(kUnknown);
        stall_ns_ = options.take_duration_or_standard(kNullOptions["stall_for"]).count();
    }

    Fault fault() const noexcept override { return Fault::other; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = rate_ > 0 || stall_at_ != kUnknown};
    }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "counted";
        return hop;
    }
    bool prepare(const StreamInfo& stream, BlockPool&, int cancel, std::string&) override
    {
        sample_bytes_ = stream.format.sample_bytes;
        cancel_ = cancel;
        samples_ = 0;
        stalled_ = false;
        return true;
    }
    void start() override { start_ns_ = sys::monotonic_ns(); }
    void submit(Block filled) override
    {
        samples_ += filled.bytes() / sample_bytes_;
        if (rate_ > 0)
            pause_until(start_ns_ + time_of(samples_));
        if (samples_ > stall_at_ && !std::exchange(stalled_, true))
            pause_until(sys::after(stall_ns_));
    }
    void stop(Stop, const StreamEnd&) override {}

private:
    std::int64_t time_of(std::uint64_t samples) const
    {
        constexpr double kYear = 3.2e16; // ns; long enough, and no overflow
        return static_cast<std::int64_t>(
            std::min(static_cast<double>(samples) / rate_ * 1e9, kYear));
    }
    void pause_until(std::int64_t when) const { (void)sys::wait_for(cancel_, POLLIN, when); }

    double rate_ = 0;
    std::uint64_t stall_at_ = kUnknown;
    std::int64_t stall_ns_ = 0, start_ns_ = 0;
    std::size_t sample_bytes_ = 1;
    std::uint64_t samples_ = 0;
    int cancel_ = -1;
    bool stalled_ = false;
};

} // namespace

Scheme null_scheme()
{
    return {"null",
            {},
            [](Uri& uri) -> std::unique_ptr<Sink> {
                if (!uri.rest.empty())
                    fail_usage("null:" + uri.rest + ": null: takes no name");
                return std::make_unique<NullSink>(uri.options);
            },
            "",
            "Counts samples and discards them",
            "iio-stream stream sim: rate=1M null: --duration 2s",
            join(kNullOptions)};
}

} // namespace iio_stream::check
