// SPDX-License-Identifier: MIT
// 8xx: measurements. They fail if a stream fails, never because it is slow.
#include "conformance/saved_settings.hpp"
#include "conformance/streaming.hpp"
#include "core/base/text.hpp"
#include "iio/context/attributes.hpp"
#include "iio/tuning/front_end.hpp"
#include "iio_stream/gadget.hpp"
#include "iio_stream/reader.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr double kGiB = 1073741824.0;
constexpr auto kThroughputTime = 300ms, kRateTime = 500ms;
constexpr std::size_t kMostRates = 6; ///< the number of rates to try, at most
constexpr std::size_t kMostDiskBytes = 256 << 20;
constexpr int kLatencyBlocks = 100;
constexpr double kClockSeconds = 3, kWrongClock = 0.02;
/// A device that delivers less than this fraction of a rate does not run at that rate.
constexpr double kReached = 0.75;

void throughput_by(Run& run, const Subject& subject, const Way& way)
{
    PipelineConfig config = capture_config(subject, way);
    config.block_size = 0; // the defaults
    config.blocks = 0;
    config.duration = kThroughputTime;
    if (subject.rate() > 0 && subject.rate() < 1e5)
        config.block_size = block_bytes(subject, 0.02);
    const Summary summary = stream(run, config);
    if (summary.error) {
        run.fail(*summary.error, way.text());
        return;
    }
    const double seconds = std::max(summary.stats.source_seconds, 1e-6),
                 bytes = static_cast<double>(summary.stats.bytes);
    const double cpu =
        (summary.cpu.user_seconds + summary.cpu.system_seconds) / std::max(bytes, 1.0) * kGiB;
    run.pass(
        bytes_text(bytes / seconds) + "/s, " +
            rate_text(static_cast<double>(summary.stats.samples) / seconds) + ", " +
            seconds_text(cpu) + " of CPU time per GiB" +
            (summary.stats.gaps.certain + summary.stats.gaps.possible == 0 ? "" : ", with losses"),
        {{"bytes_per_second", bytes / seconds},
         {"samples_per_second", static_cast<double>(summary.stats.samples) / seconds},
         {"cpu_seconds_per_gib", cpu},
         {"possible_losses",
          static_cast<std::int64_t>(summary.stats.gaps.certain + summary.stats.gaps.possible)}},
        way.text());
}

/// A sample rate that can be set, and the rates to try, highest first.
struct Rates {
    std::string path;
    std::vector<double> values;
};

Rates rates_of(const Subject& subject)
{
    const iio::FrontEnd front(subject.device, "local:", "auto", iio::Direction::receive,
                              subject.buffer.channels);
    for (const auto& targets : {front.front_rates(), front.own_rates()})
        for (const iio::TuningTarget& target : targets) {
            std::string text = iio::available_for(target);
            const bool range = text.starts_with("[");
            std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
            std::vector<double> numbers;
            for (const std::string& word : detail::split(text, ' '))
                if (const auto number = iio::number_in_value(word); number && *number > 0)
                    numbers.push_back(*number);
            if (numbers.empty() || (range && numbers.size() != 3))
                continue;
            Rates rates{"/sys/bus/iio/devices/" + target.device.id() + "/" +
                            target.device.file_of(target.channel, target.attribute),
                        {}};
            if (range)
                for (double rate = numbers[2];
                     rate >= numbers[0] && rates.values.size() < kMostRates; rate /= 2)
                    rates.values.push_back(std::floor(rate));
            else
                rates.values = numbers;
            std::sort(rates.values.rbegin(), rates.values.rend());
            rates.values.resize(std::min(rates.values.size(), kMostRates));
            return rates;
        }
    return {"", {subject.rate()}};
}

/// The result of one rate: whether the sink took all samples.
struct RateTrial {
    bool lossless = false;
    Summary summary;
};

RateTrial try_rate(Run& run, const Subject& subject, const Uri& sink)
{
    PipelineConfig config = capture_config(subject, subject.ways.front());
    config.sinks = {sink};
    config.block_size = 0;
    config.blocks = 0;
    if (subject.rate() > 0 && subject.rate() < 1e5)
        config.block_size = block_bytes(subject, 0.02);
    config.duration = kRateTime;
    if (sink.scheme == "file")
        config.bytes = kMostDiskBytes;
    RateTrial trial;
    trial.summary = stream(run, config);
    trial.lossless = !trial.summary.error &&
                     trial.summary.stats.gaps.certain + trial.summary.stats.gaps.possible == 0;
    return trial;
}

// Tries rates from the highest down, until the device delivers the rate and the sink takes all
// samples.
void sweep_rates(Run& run, const Subject& subject, const Uri& sink)
{
    const Rates rates = rates_of(subject);
    SavedSettings settings(run);
    std::string failed;
    for (const double rate : rates.values) {
        if (run.stopped())
            return;
        std::string now = iio::hertz_text(rate);
        if (!rates.path.empty())
            try {
                now = settings.set(rates.path, now);
            } catch (const Error&) {
                continue; // the check "rate" reports it
            }
        const RateTrial trial = try_rate(run, subject, sink);
        if (trial.summary.error) {
            run.fail(*trial.summary.error);
            return;
        }
        const double measured = static_cast<double>(trial.summary.stats.samples) /
                                std::max(trial.summary.stats.source_seconds, 1e-6);
        const double set = iio::number_in_value(now).value_or(rate);
        const bool reached = rate <= 0 || measured >= kReached * set;
        if (trial.lossless && reached) {
            run.pass(
                "no loss at " + (rate > 0 ? rate_text(set) : rate_text(measured)) +
                    (rates.path.empty() ? ", the current rate" : "") + ", measured " +
                    rate_text(measured) + (failed.empty() ? "" : "; not at " + failed) + ", by " +
                    trial.summary.route.back().mechanism,
                {{"rate", rate},
                 {"measured_rate", measured},
                 {"bytes_per_second", measured * static_cast<double>(subject.sample_bytes())}});
            return;
        }
        std::string tried = rate > 0 ? rate_text(rate) : rate_text(measured);
        tried += trial.lossless ? " (only " + rate_text(measured) + " arrived)" : " (losses)";
        detail::add_item(failed, tried);
    }
    run.pass("no rate that was tried delivers all samples: " + failed);
}

} // namespace

void measure_throughput(Run& run, Subject* subject)
{
    run.each_way(subject->ways, [&](const Way& way) { throughput_by(run, *subject, way); });
}

void measure_highest_rate(Run& run, Subject* subject)
{
    sweep_rates(run, *subject, "null:");
}

void measure_disk(Run& run, Subject* subject)
{
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder(run.options().scratch);
    const fs::space_info space = fs::space(folder, error);
    if (error || space.available < 2 * kMostDiskBytes) {
        run.skip("less than 512 MiB is free in " + folder.string() + " (--scratch FOLDER)");
        return;
    }
    const std::string file = (folder / "iio-stream-check.raw").string();
    if (fs::exists(file, error)) {
        run.skip(file + " exists (--scratch FOLDER)");
        return;
    }
    struct Remove {
        std::string file;
        ~Remove() { sys::try_remove_file(file); }
    } const remove{file};
    Uri sink;
    sink.scheme = "file";
    sink.rest = file;
    sink.options.set("overwrite", "on");
    sweep_rates(run, *subject, sink);
}

void measure_usb(Run& run, Subject*)
{
    const GadgetStatus status = gadget_status();
    if (status.controllers.empty()) {
        run.skip("this machine has no USB device controller");
        return;
    }
    std::string controllers;
    for (const ControllerInfo& controller : status.controllers)
        detail::add_item(controllers,
                         controller.name + " " + controller.state + " " + controller.speed);
    run.skip("measuring a rate requires a host that reads: run `iio-stream bench usb:` on it; "
             "controllers: " +
             controllers);
}

void measure_latency(Run& run, Subject* subject)
{
    PipelineConfig config = capture_config(*subject, subject->ways.front());
    config.sinks.clear();
    config.block_size = block_bytes(*subject, 0.005, 64 * 1024);
    Reader reader(config);
    std::vector<double> latencies;
    while (latencies.size() < kLatencyBlocks && !run.stopped()) {
        const auto block = reader.next(3s);
        if (!block)
            break;
        if (block->time().ns != 0)
            latencies.push_back(static_cast<double>(sys::monotonic_ns() - block->time().ns) / 1e9);
    }
    reader.stop();
    const Summary summary = reader.close();
    run.blame(summary.error);
    if (summary.error || latencies.empty()) {
        run.fail(summary.error ? summary.error->what() : "no block has a time");
        return;
    }
    std::sort(latencies.begin(), latencies.end());
    const double median = latencies[latencies.size() / 2],
                 late = latencies[latencies.size() * 99 / 100];
    run.pass(
        "median " + seconds_text(median) + ", 99th percentile " + seconds_text(late) + ", of " +
            std::to_string(latencies.size()) + " blocks",
        {{"median_seconds", median}, {"p99_seconds", late}, {"max_seconds", latencies.back()}});
}

namespace {

/// The slope of a line through points, by least squares: late wake-ups of single blocks cancel out.
class Slope {
public:
    void add(double x, double y)
    {
        if (count_++ == 0) {
            x0_ = x;
            y0_ = y;
        }
        x -= x0_;
        y -= y0_;
        x_ += x;
        y_ += y;
        xx_ += x * x;
        xy_ += x * y;
        last_ = x;
    }
    double count() const noexcept { return count_; }
    double span() const noexcept { return last_; }
    double value() const noexcept { return (count_ * xy_ - x_ * y_) / (count_ * xx_ - x_ * x_); }

private:
    double count_ = 0, x0_ = 0, y0_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0, last_ = 0;
};

} // namespace

void measure_clock(Run& run, Subject* subject)
{
    if (subject->rate() <= 0) {
        run.skip("the device reports no sample rate");
        return;
    }
    PipelineConfig config = capture_config(*subject, subject->ways.front());
    config.sinks.clear();
    config.block_size = block_bytes(*subject, 0.005, 64 * 1024);
    Reader reader(config);
    const std::int64_t until = sys::after(static_cast<std::int64_t>(kClockSeconds * 1e9));
    Slope slope; // samples over seconds
    std::size_t gaps = 0;
    while (sys::monotonic_ns() < until && !run.stopped()) {
        const auto block = reader.next(3s);
        if (!block)
            break;
        gaps += block->gaps().size();
        slope.add(static_cast<double>(block->time().ns) / 1e9,
                  static_cast<double>(block->sample_index() + block->samples()));
    }
    reader.stop();
    if (const Summary summary = reader.close(); summary.error) {
        run.fail(*summary.error);
        return;
    }
    if (slope.count() < 3 || slope.span() <= 0) {
        run.skip("too few blocks arrived to compare the clocks");
        return;
    }
    const double measured = slope.value(), ratio = measured / subject->rate();
    Facts facts{{"measured_rate", measured},
                {"reported_rate", subject->rate()},
                {"ppm", (ratio - 1) * 1e6}};
    char text[64];
    std::snprintf(text, sizeof text, "%+.1f ppm", (ratio - 1) * 1e6);
    if (std::abs(ratio - 1) > kWrongClock)
        run.pass("samples arrive at " + rate_text(measured) + ", but the device reports " +
                     rate_text(subject->rate()),
                 std::move(facts));
    else
        run.pass(text + std::string(" against the system's clock, over ") +
                     seconds_text(slope.span()) + (gaps == 0 ? "" : ", with losses"),
                 std::move(facts));
}

} // namespace iio_stream::conformance
