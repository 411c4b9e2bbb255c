// SPDX-License-Identifier: MIT
#include "cli/run.hpp"

#include "cli/output/event_log.hpp"
#include "cli/output/exit_status.hpp"
#include "cli/output/print.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/summary_text.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>

namespace iio_stream::cli {

namespace {

std::atomic<Session*> g_session{nullptr};
std::atomic<int> g_signals{0};

// timeout(1) and some supervisors send SIGTERM twice, to the command and to its process group.
// Therefore only a SIGINT that follows another signal ends the process at once.
void end_session(int number)
{
    if (++g_signals > 1 && number == SIGINT)
        ::_exit(130);
    if (Session* session = g_session.load())
        session->request_stop();
}

/// While a SignalScope exists, SIGINT, SIGTERM and SIGHUP end the session. A SIGINT after any of
/// them ends the process, even after the session has ended: the output of the summary might block
/// on a pipe that nobody reads.
class SignalScope {
public:
    explicit SignalScope(Session& session)
    {
        g_session = &session;
        on_end_signals(&end_session);
        if (g_signals > 0) // a signal arrived between two sessions
            session.request_stop();
    }
    SignalScope(const SignalScope&) = delete;
    ~SignalScope() { g_session = nullptr; }
};

void print_route(const Pipeline& pipeline)
{
    for (const Hop& hop : pipeline.route())
        print_line(stderr, "%s", route_line(hop).c_str());
}

void warn_of_dangers(const std::string& command, const Pipeline& pipeline)
{
    for (const Hop& hop : pipeline.route()) {
        std::istringstream warnings(hop.warning);
        for (std::string line; std::getline(warnings, line);)
            print_line(stderr, "iio-stream: %s: warning: %s", command.c_str(), line.c_str());
    }
}

// A device plays samples at its own rate. Warns if that rate or the rate of the recording is
// unknown, because the two might differ.
void warn_of_rates(const Pipeline& pipeline)
{
    const double recorded = pipeline.format().sample_rate;
    const Stats stats = pipeline.stats();
    for (const SinkStats& sink : stats.sinks) {
        if (!sink.playback || (recorded > 0 && sink.playback->rate))
            continue;
        const double played = sink.playback->rate.value_or(0);
        const std::string at = played > 0 ? human_count(played) + "S/s" : "an unknown rate";
        print_line(
            stderr, "iio-stream: play: the samples were recorded at %s; the device plays at %s",
            recorded > 0 ? (human_count(recorded) + "S/s").c_str() : "an unknown rate", at.c_str());
    }
}

Summary failed_before_start(const PipelineConfig& config, const Error& error)
{
    Summary summary;
    summary.source = config.source.text();
    for (const Uri& sink : config.sinks)
        summary.sinks.push_back(sink.text());
    summary.sink_reports.resize(config.sinks.size());
    summary.stats.sinks.resize(config.sinks.size());
    // Whether the user interrupted the wait for a peer.
    const bool interrupted = g_signals > 0 && error.code().value() == ECANCELED;
    summary.ended = interrupted ? "signal" : "error";
    if (!interrupted)
        summary.error = error;
    return summary;
}

std::vector<std::string> names_of_sources(const std::vector<PipelineConfig>& pipelines)
{
    std::vector<std::string> names;
    for (const PipelineConfig& config : pipelines)
        names.push_back(config.source.text());
    return names;
}

bool to_stdout(const Summary& summary)
{
    return std::any_of(summary.sinks.begin(), summary.sinks.end(), [](const std::string& sink) {
        return sink == "file:-" || sink.starts_with("file:-?");
    });
}

} // namespace

std::vector<Summary> run(const std::string& command, std::vector<PipelineConfig> pipelines,
                         const StreamOptions& options)
{
    options.add_reconnect(pipelines);
    options.refuse_recordings(pipelines);
    const Thresholds thresholds = options.thresholds();
    Session session;
    std::vector<Summary> summaries;
    std::optional<Error> mishap; // an error outside the streams, such as a failed write of metrics
    std::optional<EventLog> events;
    try {
        events.emplace(options.events, names_of_sources(pipelines));
        const SignalScope signals(session);
        for (const PipelineConfig& config : pipelines)
            session.add(config);
        session.prepare();
        for (std::size_t i = 0; options.verbose && i < session.size(); ++i)
            print_route(session[i]);
        for (std::size_t i = 0; i < session.size(); ++i)
            warn_of_dangers(command, session[i]);
        for (std::size_t i = 0; command == "play" && !options.quiet && i < session.size(); ++i)
            warn_of_rates(session[i]);
        Progress progress(options, session, pipelines);
        session.start();
        events->started(session);
        try {
            // The metrics are updated once a second, and the end of a stream ends the wait at once.
            const bool often = progress.is_shown() || !options.events.empty();
            while (!session.wait(std::chrono::milliseconds(often ? 200 : 1000))) {
                progress.show(session);
                events->update(session);
            }
            session.stop();
            progress.finish(session);
        } catch (const Error& error) {
            mishap = error;
            session.stop();
        }
        events->update(session);
        for (std::size_t i = 0; i < session.size(); ++i)
            summaries.push_back(session[i].summary());
    } catch (const Error& error) {
        summaries.clear();
        for (const PipelineConfig& config : pipelines)
            summaries.push_back(failed_before_start(config, error));
    }
    for (Summary& summary : summaries) {
        summary.command = command;
        if (mishap && !summary.error) {
            summary.ended = "error";
            summary.error = mishap;
        }
        if (!summary.error)
            summary.error = thresholds.check(summary.stats); // exit status 4
    }
    if (events)
        events->ended(summaries);
    return summaries;
}

Json runs_json(const std::string& command, const std::vector<Summary>& summaries)
{
    Json runs{{"schema", 1}, {"command", command}, {"runs", Json::array()}};
    for (const Summary& summary : summaries)
        runs["runs"].push_back(Json::parse(to_json(summary)));
    return runs;
}

void print_result(const std::string& result, const std::vector<Summary>& summaries,
                  const StreamOptions& options)
{
    std::FILE* const out =
        std::any_of(summaries.begin(), summaries.end(), to_stdout) ? stderr : stdout;
    if (options.wants_json() && options.json != "true")
        print_json(result, options.json);
    else if (options.wants_json())
        print_json_line(out, result);
    else
        print_text(out, result);
}

int report(const std::string& command, const std::vector<Summary>& summaries,
           const StreamOptions& options, bool as_runs)
{
    int status = 0;
    std::string last_error;
    for (const Summary& summary : summaries) {
        // The status is the first of 2, 3, 5, 4 and 1 that applies.
        static constexpr int kOrder[] = {0, 1, 4, 5, 3, 2};
        const auto rank = [](int s) { return std::find(kOrder, kOrder + 6, s) - kOrder; };
        if (rank(exit_status(summary)) > rank(status))
            status = exit_status(summary);
        if (summary.error && last_error != summary.error->what()) {
            last_error = summary.error->what(); // pipelines that share an error report it once
            (void)print_error(command, *summary.error);
        }
        if (!summary.error && summary.ended == "gap") // explain status 4
            print_line(stderr,
                       "iio-stream: %s: %s: %s after sample %llu; --on-gap stop ended the stream",
                       command.c_str(), summary.source.c_str(),
                       summary.stats.underflows() != 0 ? "the device ran out of samples"
                                                       : "samples were lost",
                       static_cast<unsigned long long>(summary.stats.samples));
    }
    std::string text;
    if (options.wants_json()) {
        text = summaries.size() == 1 && !as_runs ? to_json(summaries[0])
                                                 : json_text(runs_json(command, summaries));
    } else if (!options.quiet) {
        for (const Summary& summary : summaries)
            if (!summary.started.empty())
                text +=
                    text_of(summary, options.verbose ? TunedLines::all : TunedLines::differences);
    }
    print_result(text, summaries, options);
    return status;
}

} // namespace iio_stream::cli
