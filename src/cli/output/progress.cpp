// SPDX-License-Identifier: MIT
#include "cli/output/progress.hpp"

#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEndless = std::numeric_limits<double>::infinity();

std::string time_text(double seconds)
{
    const auto whole = static_cast<unsigned long long>(seconds);
    char text[40];
    if (seconds < 100)
        std::snprintf(text, sizeof text, "%.1f s", seconds);
    else if (seconds < 100 * 60)
        std::snprintf(text, sizeof text, "%llu min %llu s", whole / 60, whole % 60);
    else
        std::snprintf(text, sizeof text, "%llu h %llu min", whole / 3600, whole / 60 % 60);
    return text;
}

// The time that `amount` takes at the average rate so far.
double seconds_for(double amount, double done, double seconds)
{
    return done > 0 && seconds > 0 ? std::max(amount, 0.0) * seconds / done : kEndless;
}

} // namespace

std::string left_text(const PipelineConfig& limits, const Format& format, const Stats& stats,
                      const std::vector<std::uint64_t>& room)
{
    const auto bytes = static_cast<double>(stats.bytes);
    double left = kEndless, full = kEndless;
    if (limits.bytes != 0)
        left = seconds_for(static_cast<double>(limits.bytes) - bytes, bytes, stats.seconds);
    if (limits.samples != 0) {
        const double wanted =
            static_cast<double>(limits.samples) * static_cast<double>(format.sample_bytes);
        left = std::min(left, seconds_for(wanted - bytes, bytes, stats.seconds));
    }
    if (limits.duration.count() != 0) {
        const double wanted = static_cast<double>(limits.duration.count()) * 1e-9;
        left = std::min(left, std::max(wanted - stats.seconds, 0.0));
    }
    for (std::size_t i = 0; i < std::min(room.size(), stats.sinks.size()); ++i)
        if (room[i] != kUnknown)
            full = std::min(full,
                            seconds_for(static_cast<double>(room[i]),
                                        static_cast<double>(stats.sinks[i].bytes), stats.seconds));
    constexpr double kNever = 1e9; // seconds; too long to be of interest
    if (std::min(left, full) > kNever)
        return "";
    return full < left ? "  " + time_text(full) + " until full" : "  " + time_text(left) + " left";
}

std::string copies_text(const Hop& hop)
{
    std::string text = hop.mechanism;
    if (!hop.memory.empty())
        text += ", " + hop.memory;
    text += hop.copies == 1 ? ", 1 copy" : ", " + std::to_string(hop.copies) + " copies";
    if (!hop.reason.empty())
        text += ": " + hop.reason;
    return text;
}

std::string route_line(const Hop& hop)
{
    return "  " + hop.from + " → " + hop.to + "  " + copies_text(hop);
}

Progress::Progress(const StreamOptions& options, Session& session,
                   std::vector<PipelineConfig> limits)
    : limits_(std::move(limits)),
      on_terminal_(options.progress || (!options.no_progress && !options.quiet &&
                                        options.events != "-" && ::isatty(STDERR_FILENO) == 1)),
      metrics_file_(options.metrics_file)
{
    if (!options.metrics_listen.empty())
        metrics_server_ = std::make_unique<MetricsServer>(options.metrics_listen);
    publish_metrics(session);
    if (metrics_server_ && !options.quiet)
        for (const std::string& address : metrics_server_->addresses())
            print_line(stderr, "iio-stream: metrics at http://%s/metrics", address.c_str());
}

std::string Progress::line(const Stats& stats, double seconds, std::uint64_t bytes) const
{
    std::uint64_t lag = 0, dropped = 0;
    for (const SinkStats& sink : stats.sinks) {
        lag = std::max(lag, sink.lag_high_water);
        dropped += sink.dropped_samples;
    }
    const double rate = seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
    char text[200];
    std::snprintf(
        text, sizeof text, "%7.1f s  %s  %s/s  gaps %llu certain, %llu possible  lag %llu",
        stats.seconds, human_bytes(static_cast<double>(stats.bytes)).c_str(),
        human_bytes(rate).c_str(), static_cast<unsigned long long>(stats.gaps.certain),
        static_cast<unsigned long long>(stats.gaps.possible), static_cast<unsigned long long>(lag));
    std::string line = text;
    if (dropped != 0)
        line += "  dropped " + human_count(static_cast<double>(dropped));
    if (const double storing = stats.seconds - stats.source_seconds; storing > 1)
        line += "  ended, waiting for the sinks for " + time_text(storing);
    if (const std::uint64_t count = stats.underflows(); count != 0)
        line += "  underflows " + std::to_string(count);
    for (const SinkStats& sink : stats.sinks)
        if (sink.uploads)
            line += "  archive " + human_bytes(static_cast<double>(sink.uploads->behind_bytes)) +
                    " behind";
    return line;
}

void Progress::show(Session& session)
{
    const Clock::time_point now = Clock::now();
    if (now - last_metrics_ >= std::chrono::seconds(1)) {
        last_metrics_ = now;
        publish_metrics(session);
    }
    if (!on_terminal_)
        return;
    const double seconds = std::chrono::duration<double>(now - last_shown_).count();
    std::string text;
    before_.resize(session.size());
    for (std::size_t i = 0; i < session.size(); ++i) {
        const Stats stats = session[i].stats();
        text += (i == 0 ? "" : " | ") +
                line(stats, last_shown_ == Clock::time_point{} ? 0 : seconds,
                     stats.bytes - before_[i].bytes) +
                left_text(limits_[i], session[i].format(), stats, session[i].free_space_left());
        before_[i] = stats;
    }
    last_shown_ = now;
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
}

void Progress::finish(Session& session)
{
    if (shown_)
        std::fputs("\r\033[K", stderr);
    publish_metrics(session);
}

void Progress::publish_metrics(Session& session) const
{
    if (metrics_file_.empty() && !metrics_server_)
        return;
    std::vector<LabelledStats> pipelines;
    for (std::size_t i = 0; i < session.size(); ++i)
        pipelines.push_back({"pipeline=\"" + std::to_string(i) + "\"", session[i].stats()});
    if (metrics_server_)
        metrics_server_->publish(pipelines);
    if (!metrics_file_.empty())
        write_metrics(metrics_file_, pipelines);
}

} // namespace iio_stream::cli
