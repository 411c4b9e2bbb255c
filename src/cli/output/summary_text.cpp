// SPDX-License-Identifier: MIT
#include "cli/output/summary_text.hpp"

#include "cli/output/print.hpp"
#include "cli/output/progress.hpp"
#include "iio_stream/printable.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace iio_stream::cli {

namespace {

std::string with_unit(double value, double step, const char* const* units, std::size_t count)
{
    std::size_t unit = 0;
    while (unit + 1 < count && value >= step) {
        value /= step;
        ++unit;
    }
    const char* format = unit == 0 && value == std::floor(value) ? "%.0f %s" : "%.2f %s";
    std::string text = formatted(format, value, units[unit]);
    while (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

std::string checks_text(const std::vector<Evidence>& evidence)
{
    std::string names;
    for (const Evidence kind : evidence)
        names += (names.empty() ? " (checked: " : ", ") + std::string(name_of(kind));
    return names.empty() ? "" : names + ")";
}

std::string end_text(const std::string& ended)
{
    return ended == "stopped" ? "stopped because another stream failed" : "ended by " + ended;
}

std::string lost_text(const GapTotals& gaps, const std::vector<Evidence>& evidence)
{
    if (gaps.certain + gaps.possible == 0)
        return gaps.lost_max == kUnknown ? "none seen, but this source cannot detect any"
                                         : "none" + checks_text(evidence);
    const std::string most =
        gaps.lost_max == kUnknown ? "any number" : std::to_string(gaps.lost_max);
    std::string text = std::to_string(gaps.certain) + " certain, " + std::to_string(gaps.possible) +
                       " possible; lost samples: ";
    if (gaps.lost_min == gaps.lost_max)
        return text + std::to_string(gaps.lost_min);
    return text + "at least " + std::to_string(gaps.lost_min) + ", at most " + most;
}

std::string playback_text(const std::string& sink, const PlaybackStats& playback)
{
    std::string text = formatted("  played   %llu underflows, %llu repeats",
                                 static_cast<unsigned long long>(playback.underflows),
                                 static_cast<unsigned long long>(playback.repeats));
    if (playback.repeating != Repeating::no)
        text += " in " + name_of(playback.repeating);
    if (playback.unverified_blocks != 0)
        text += formatted(", %llu blocks unverified",
                          static_cast<unsigned long long>(playback.unverified_blocks));
    if (playback.rate)
        text += ", " + human_count(*playback.rate) + "S/s";
    return text + " by " + printable(sink) + "\n";
}

// Describes the difference between the samples of a sink and those of the source: they were
// converted, zeros replace lost samples, or some were dropped. Returns "" if there is none.
std::string sink_text(const std::string& name, const Stats& stats, const SinkStats& sink)
{
    std::string text;
    if (sink.delivered_samples != 0 &&
        (sink.delivered_samples != stats.samples || sink.bytes != stats.bytes))
        text = "  sink     " + std::to_string(sink.delivered_samples) + " samples (" +
               human_bytes(static_cast<double>(sink.bytes)) + ") to " + printable(name) + "\n";
    if (sink.dropped_samples != 0)
        text += "  dropped  " + std::to_string(sink.dropped_samples) + " samples, not written to " +
                printable(name) + "\n";
    return text;
}

std::string settings_text(const Settings& settings)
{
    std::string text;
    const auto add = [&](const std::optional<double>& value, const std::string& words) {
        if (value)
            text += (text.empty() ? "" : ", ") + words;
    };
    add(settings.frequency, human_count(settings.frequency.value_or(0)) + "Hz");
    add(settings.gain, formatted("gain %g dB", settings.gain.value_or(0)));
    add(settings.bandwidth, "bandwidth " + human_count(settings.bandwidth.value_or(0)) + "Hz");
    add(settings.rate, human_count(settings.rate.value_or(0)) + "S/s");
    return text.empty() ? "unknown settings" : text;
}

// Lists only the first few retunings. The metadata of a recording list all of them.
std::string retuned_text(const Summary& s)
{
    constexpr std::size_t kShown = 3;
    std::string text;
    std::size_t count = 0;
    for (const Retuning& retuning : s.retunings)
        if (retuning.begin < s.stats.samples && ++count <= kShown)
            text += "  retuned  between samples " + std::to_string(retuning.begin) + " and " +
                    std::to_string(std::min(retuning.end, s.stats.samples)) + " to " +
                    settings_text(retuning.settings) + "\n";
    if (count > kShown)
        text += "  retuned  " + std::to_string(count - kShown) + " more times\n";
    return text;
}

// Unlike human_count(), it shows all digits: 2.400000001 G.
std::string exact_count(double count)
{
    static constexpr const char* kUnits[] = {"", "k", "M", "G"};
    std::size_t unit = 0;
    for (; unit + 1 < 4 && std::abs(count) >= 1000; ++unit)
        count /= 1000;
    return formatted("%.12g %s", count, kUnits[unit]);
}

// The settings of an endpoint's radio as they were read back from it.
std::string tuned_text(const std::string& endpoint, const Tuning& tuning, TunedLines lines)
{
    std::string values, text;
    const auto add = [&](bool known, const std::string& words) {
        if (known)
            values += (values.empty() ? "" : ", ") + words;
    };
    add(tuning.frequency.has_value(), exact_count(tuning.frequency.value_or(0)) + "Hz");
    add(tuning.rate.has_value(), exact_count(tuning.rate.value_or(0)) + "S/s");
    add(tuning.gain.has_value(), formatted("gain %g dB", tuning.gain.value_or(0)));
    add(!tuning.agc.empty(), "agc " + printable(tuning.agc));
    add(tuning.bandwidth.has_value(),
        "bandwidth " + exact_count(tuning.bandwidth.value_or(0)) + "Hz");
    add(!tuning.antenna.empty(), "antenna " + printable(tuning.antenna));
    if (lines == TunedLines::all && !values.empty())
        text += "  tuned    " + values + ": " + printable(endpoint) + "\n";
    for (const std::string& remark : tuning.remarks)
        text += "  tuned    " + printable(remark) + "\n";
    return text;
}

// The rate at which samples were moved. A rate far below the nominal one is a sign of losses that
// the source cannot detect, or of a wrong nominal rate.
std::string achieved_text(const Summary& s)
{
    constexpr double kFarBelow = 0.9, kLongEnough = 1; // seconds
    if (s.stats.seconds <= 0)
        return "";
    const auto samples = static_cast<double>(s.stats.samples);
    std::string text = human_count(samples / s.stats.seconds) + "S/s";
    double nominal = s.format.sample_rate;
    for (const Retuning& retuning : s.retunings)
        nominal = std::min(nominal, retuning.settings.rate.value_or(nominal));
    const double seconds = s.stats.source_seconds; // without the time to store the last samples
    // The last block can still be on its way when the stream ends.
    const double block = s.stats.blocks != 0 ? samples / static_cast<double>(s.stats.blocks) : 0;
    if (s.live && nominal > 0 && seconds >= kLongEnough &&
        samples + block < kFarBelow * nominal * seconds)
        text += formatted(" (only %.0f %% of ", 100 * samples / seconds / nominal) +
                human_count(nominal) + "S/s)";
    return text + ", ";
}

// A sink's report. Of many files, only the first and the last are named.
std::string report_text(const std::string& report)
{
    const nlohmann::json parsed = nlohmann::json::parse(report);
    const auto files = parsed.find("files");
    if (files == parsed.end() || files->empty())
        return report;
    std::string text =
        std::to_string(files->size()) + (files->size() == 1 ? " file: " : " files: ");
    text += files->front().get<std::string>();
    if (files->size() != 1)
        text += " … " + files->back().get<std::string>();
    if (const auto keep = parsed.find("keep"); keep != parsed.end())
        text += "; " + counted(keep->at("removed").get<std::uint64_t>(), "older part") +
                " removed (" + human_bytes(keep->at("removed_bytes").get<double>()) + ")";
    return text;
}

// The line about the CPU time of each thread. It ends with that of the program's own threads.
std::string threads_text(const Summary& s)
{
    double rest = s.cpu.user_seconds + s.cpu.system_seconds;
    std::string text = "  threads  ";
    for (const ThreadTime& thread : s.threads) {
        text += formatted("%s %.3f s, ", printable(thread.name).c_str(), thread.cpu_seconds);
        rest -= thread.cpu_seconds;
    }
    return text + formatted("others %.3f s\n", std::max(rest, 0.0));
}

} // namespace

std::string attribute_text(const AttributeInfo& attribute)
{
    return attribute.channel + (attribute.channel.empty() ? "" : "/") + attribute.name + " = " +
           (attribute.error.empty() ? attribute.value : "? " + attribute.error);
}

std::string human_bytes(double bytes)
{
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return with_unit(bytes, 1024, kUnits, 5);
}

std::string counted(std::uint64_t count, const std::string& one)
{
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string human_count(double count)
{
    static constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
    return with_unit(count, 1000, kUnits, 5);
}

std::string text_of(const Summary& s, TunedLines tuned)
{
    const Stats& stats = s.stats;
    std::string sinks;
    for (const std::string& sink : s.sinks)
        sinks += (sinks.empty() ? "" : ", ") + printable(sink);
    std::string text = s.command + ": " + printable(s.source) + " → " + sinks + "\n";
    const double rate = stats.seconds > 0 ? static_cast<double>(stats.bytes) / stats.seconds : 0;
    text +=
        formatted("  moved    %llu samples (%s) in %.3f s, %s%s/s; %s\n",
                  static_cast<unsigned long long>(stats.samples),
                  human_bytes(static_cast<double>(stats.bytes)).c_str(), stats.seconds,
                  achieved_text(s).c_str(), human_bytes(rate).c_str(), end_text(s.ended).c_str());
    text += formatted("  samples  %s, %zu bytes", s.format.name().c_str(), s.format.sample_bytes);
    for (const Channel& channel : s.format.channels)
        text += (channel.offset == 0 ? ": " : ", ") + printable(channel.id);
    if (s.format.sample_rate > 0)
        text += "; " + human_count(s.format.sample_rate) + "S/s";
    text += "\n" + tuned_text(s.source, s.tuning, tuned);
    for (std::size_t i = 0; i < s.sink_tunings.size(); ++i)
        text += tuned_text(s.sinks[i], s.sink_tunings[i], tuned);
    text += "  blocks   " + std::to_string(s.block_count) + " of " +
            human_bytes(static_cast<double>(s.block_size));
    const SourceStats& bad = s.source_stats;
    if (bad.error_blocks + bad.cancelled_blocks + bad.unverified_blocks != 0)
        text += formatted("; of %llu filled, %llu failed, %llu cancelled, %llu without a status",
                          static_cast<unsigned long long>(stats.blocks),
                          static_cast<unsigned long long>(bad.error_blocks),
                          static_cast<unsigned long long>(bad.cancelled_blocks),
                          static_cast<unsigned long long>(bad.unverified_blocks));
    text += "\n  gaps     " + lost_text(stats.gaps, bad.evidence) + "\n" + retuned_text(s);
    for (std::size_t i = 0; i < s.sinks.size(); ++i)
        text += sink_text(s.sinks[i], stats, stats.sinks[i]);
    for (std::size_t i = 0; i < s.sinks.size(); ++i)
        if (stats.sinks[i].playback)
            text += playback_text(s.sinks[i], *stats.sinks[i].playback);
    text += formatted("  route    %u %s\n", s.copies(), s.copies() == 1 ? "copy" : "copies");
    for (const Hop& hop : s.route)
        text += "         " + printable(route_line(hop)) + "\n";
    text += formatted(
        "  cpu      %.3f s user, %.3f s system; latency p50 %.0f µs, p99 %.0f µs, max %.0f µs\n",
        s.cpu.user_seconds, s.cpu.system_seconds, s.latency.p50_us, s.latency.p99_us,
        s.latency.max_us);
    if (s.command == "bench" || tuned == TunedLines::all)
        text += threads_text(s);
    for (std::size_t i = 0; i < s.sink_reports.size(); ++i)
        if (!s.sink_reports[i].empty())
            text += "  " + printable(s.sinks[i]) + "  " +
                    printable(report_text(s.sink_reports[i])) + "\n";
    return text;
}

} // namespace iio_stream::cli
