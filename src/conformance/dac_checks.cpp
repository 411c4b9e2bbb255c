// SPDX-License-Identifier: MIT
// 7xx: DACs. Each check silences the transmitter, or needs --transmit.
#include "conformance/silence.hpp"
#include "conformance/streaming.hpp"
#include "core/format/pattern.hpp"
#include "iio_stream/writer.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <thread>

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPlayedBytes = 4 << 20;
constexpr double kPlayedSeconds = 0.25;
constexpr auto kCycleTime = 400ms, kPause = 300ms;
constexpr auto kPutDeadline = 5s;

Format format_of(const Subject& subject)
{
    Format format;
    format.channels = subject.buffer.channels;
    format.sample_rate = subject.rate();
    format.lay_out();
    return format;
}

PipelineConfig playback_config(const Subject& subject, const Way& way)
{
    PipelineConfig config;
    config.sinks = {subject.uri(way)};
    // Silence reads the powerdown while the DAC plays, and restores it.
    config.sinks[0].options.set("powerdown", "keep");
    config.block_size = block_bytes(subject, 0.02);
    config.blocks = 8;
    config.timeout = 2s;
    return config;
}

/// Writes the ramp of 64-bit words, which the simulator checks.
class RampWriter {
public:
    RampWriter(const PipelineConfig& config, const Format& format)
        : writer(config, format),
          generator_(detail::Pattern::ramp, format, 0, 0),
          chunk_(writer.block_size())
    {}
    /// Returns false if the stream takes no more samples within a deadline.
    bool write(std::uint64_t samples)
    {
        const std::size_t sample_bytes = writer.format().sample_bytes;
        while (samples != 0) {
            const std::uint64_t now =
                std::min<std::uint64_t>(samples, chunk_.size() / sample_bytes);
            const std::span<std::byte> part(chunk_.data(),
                                            static_cast<std::size_t>(now) * sample_bytes);
            generator_.fill(part, written);
            if (writer.write(part, kPutDeadline) != part.size())
                return false;
            written += now;
            samples -= now;
        }
        return true;
    }

    Writer writer;
    std::uint64_t written = 0;

private:
    detail::Generator generator_;
    std::vector<std::byte> chunk_;
};

// Returns whether the transmitter stayed silent. Reports a failure if it did not.
bool stayed_silent(Run& run, const Silence& silence, const Way& way)
{
    if (run.options().transmit)
        return true;
    const std::string why = silence.broken();
    if (!why.empty())
        run.fail("the DAC was stopped: " + why, {}, way.text());
    return why.empty();
}

void play_by(Run& run, const Subject& subject, const Silence& silence, const Way& way)
{
    const std::uint64_t samples = samples_of(subject, kPlayedSeconds, kPlayedBytes);
    RampWriter ramp(playback_config(subject, way), format_of(subject));
    const std::int64_t begin = sys::monotonic_ns();
    const bool first = ramp.write(
        std::min<std::uint64_t>(samples, ramp.writer.block_size() / subject.sample_bytes()));
    if (!stayed_silent(run, silence, way)) {
        ramp.writer.stop();
        return;
    }
    const bool taken = first && ramp.write(samples - ramp.written);
    const Summary summary = ramp.writer.close();
    const double seconds = static_cast<double>(sys::monotonic_ns() - begin) / 1e9;
    const std::uint64_t delivered =
        summary.stats.sinks.empty() ? 0 : summary.stats.sinks[0].delivered_samples;
    const Facts facts{{"samples", static_cast<std::int64_t>(delivered)},
                      {"seconds", seconds},
                      {"underflows", static_cast<std::int64_t>(summary.stats.underflows())}};
    if (summary.error)
        run.fail(*summary.error, way.text());
    else if (!taken || delivered != samples)
        run.fail("the DAC took " + std::to_string(delivered) + " of " + std::to_string(samples) +
                     " samples",
                 facts, way.text());
    else
        run.pass(std::to_string(samples) + " samples played within " + seconds_text(seconds) +
                     (summary.stats.underflows() == 0
                          ? ""
                          : ", with " + std::to_string(summary.stats.underflows()) +
                                " underflows: this machine was slower than the DAC"),
                 facts, way.text());
}

void cycle_by(Run& run, const Subject& subject, const Silence& silence, const Way& way)
{
    PipelineConfig config = playback_config(subject, way);
    config.sinks[0].options.set("cyclic", "on");
    RampWriter ramp(config, format_of(subject));
    if (!ramp.write(ramp.writer.block_size() / subject.sample_bytes())) {
        run.fail("the DAC took no block", {}, way.text());
        return;
    }
    ramp.writer.end();
    const std::int64_t until = sys::after(std::chrono::nanoseconds(kCycleTime).count());
    bool silent = true;
    while (silent && sys::monotonic_ns() < until && !run.stopped()) {
        std::this_thread::sleep_for(20ms);
        silent = stayed_silent(run, silence, way);
    }
    ramp.writer.stop();
    const Summary summary = ramp.writer.close();
    if (!silent || run.stopped())
        return;
    const auto playback =
        summary.stats.sinks.empty() ? std::nullopt : summary.stats.sinks[0].playback;
    if (summary.error)
        run.fail(*summary.error, way.text());
    else if (!playback || (playback->repeats == 0 && playback->repeating != Repeating::hardware))
        run.fail("nothing was repeated within " + seconds_text(0.4), {}, way.text());
    else
        run.pass(
            "repeated by " + name_of(playback->repeating) +
                (playback->repeats == 0 ? "" : ", " + std::to_string(playback->repeats) + " times"),
            {{"repeats", static_cast<std::int64_t>(playback->repeats)}}, way.text());
}

// Writes more blocks than the pool has. When the last of them is accepted, the DAC has started.
void underflow_by(Run& run, const Subject& subject, const Silence& silence, const Way& way)
{
    RampWriter ramp(playback_config(subject, way), format_of(subject));
    const std::uint64_t block = ramp.writer.block_size() / subject.sample_bytes();
    const std::uint64_t blocks = ramp.writer.block_count() + 4;
    if (!ramp.write(blocks * block) || !stayed_silent(run, silence, way)) {
        ramp.writer.stop();
        return;
    }
    const double rate = subject.rate() > 0 ? subject.rate() : 1e6;
    const auto playing = std::chrono::duration<double>(static_cast<double>(blocks * block) / rate);
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(playing, 2s) + kPause);
    const bool taken = ramp.write(blocks * block);
    const Summary summary = ramp.writer.close();
    const std::uint64_t underflows = summary.stats.underflows();
    const Facts facts{{"underflows", static_cast<std::int64_t>(underflows)}};
    if (summary.error)
        run.fail(*summary.error, way.text());
    else if (!taken)
        run.fail("the DAC took nothing after a pause", facts, way.text());
    else if (underflows == 0)
        run.fail("a pause of " + seconds_text(0.3) + " was not reported as an underflow", facts,
                 way.text());
    else
        run.pass("a pause of " + seconds_text(0.3) + " was reported: " +
                     std::to_string(underflows) + (underflows == 1 ? " underflow" : " underflows"),
                 facts, way.text());
}

using DacCheck = void (*)(Run&, const Subject&, const Silence&, const Way&);

void for_ways(Run& run, const Subject& subject, const std::vector<Way>& ways, DacCheck check)
{
    const Silence silence(run, subject);
    if (!may_transmit(run, silence))
        return;
    run.each_way(ways, [&](const Way& way) { check(run, subject, silence, way); });
    for (const auto& [way, why] : subject.unusable)
        if (way == "fileio") // dangerous on this kernel
            run.skip(why, way);
}

} // namespace

void check_transmit_safety(Run& run, Subject* subject)
{
    const Silence silence(run, *subject);
    if (silence.missing().empty())
        run.pass(silence.text() + "; restored");
    else
        run.skip(silence.missing());
}

void check_play(Run& run, Subject* subject)
{
    for_ways(run, *subject, subject->ways, play_by);
}

void check_cyclic(Run& run, Subject* subject)
{
    for_ways(run, *subject, subject->one_way_per_path(), cycle_by);
}

void check_underflow(Run& run, Subject* subject)
{
    for_ways(run, *subject, subject->one_way_per_path(), underflow_by);
}

} // namespace iio_stream::conformance
