// SPDX-License-Identifier: MIT
#include "cli/commands/find_rate.hpp"

#include "cli/output/exit_status.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "cli/run.hpp"
#include "iio_stream/printable.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace iio_stream::cli {

namespace {

constexpr double kResolution = 1.05;
constexpr double kLowestRate = 1000, kHighestRate = 100e9; ///< S/s; the search ends there

constexpr double kLateSeconds = 0.5; ///< how late the last samples of a run may arrive

/// The result of one run at one rate.
struct Attempt {
    double rate = 0;           ///< S/s, read back from the source
    double lost = 0;           ///< samples that were lost or may have been lost, at most
    double lost_min = 0;       ///< the same, at least
    double produced = 0;       ///< samples of the source, at least
    double seconds = 0;        ///< how long the source takes for these samples
    double wanted_seconds = 0; ///< how long the run should take
    double achieved = 0;       ///< S/s that arrived
    bool bounded = true;       ///< whether the source knows `lost`
    std::string error;         ///< the error that ended the run; empty if there was none
    bool passed() const { return error.empty() && !too_slow() && lost == 0 && bounded; }
    /// Whether the source does not produce samples at the rate that it states. On a busy machine
    /// the last samples can come late, so a short run can only tell whether half of them came.
    bool too_slow() const
    {
        const double least = std::max(0.95 * (wanted_seconds - kLateSeconds), 0.5 * wanted_seconds);
        return lost == 0 && bounded && produced < least * rate;
    }
};

std::string rate_text(double rate)
{
    return human_count(rate) + "S/s";
}

// "61.44 MS/s: 0 of 614400000 samples lost in 10 s"
std::string text_of(const Attempt& attempt)
{
    const std::string rate = rate_text(attempt.rate) + ": ";
    if (!attempt.error.empty())
        return rate + attempt.error;
    if (!attempt.bounded)
        return rate + "an unknown number of samples lost";
    if (attempt.lost > 0)
        return rate + formatted("%s%.2g %% lost", attempt.lost_min < attempt.lost ? "up to " : "",
                                100 * attempt.lost / std::max(attempt.produced, attempt.lost));
    if (attempt.too_slow())
        return rate + "only " + rate_text(attempt.achieved) + " arrive";
    return rate + formatted("0 of %.0f samples lost in %.3g s", attempt.produced, attempt.seconds);
}

Attempt attempt_of(const Summary& summary, double wanted)
{
    Attempt attempt;
    const Stats& stats = summary.stats;
    attempt.rate = summary.format.sample_rate > 0 ? summary.format.sample_rate : wanted;
    attempt.bounded = stats.gaps.lost_max != kUnknown;
    attempt.lost = attempt.bounded ? static_cast<double>(stats.gaps.lost_max) : 0;
    attempt.lost_min = static_cast<double>(stats.gaps.lost_min);
    for (const SinkStats& sink : stats.sinks) {
        attempt.lost += static_cast<double>(sink.dropped_samples);
        attempt.lost_min += static_cast<double>(sink.dropped_samples);
    }
    attempt.produced = static_cast<double>(summary.produced_samples());
    attempt.seconds = attempt.rate > 0 ? attempt.produced / attempt.rate : 0;
    attempt.achieved =
        stats.source_seconds > 0 ? static_cast<double>(stats.samples) / stats.source_seconds : 0;
    return attempt;
}

/// The search, with the results of all its runs.
class Search {
public:
    Search(const std::vector<Uri>& uris, StreamOptions options)
        : uris_(uris),
          options_(std::move(options)),
          whole_(parse_duration("--duration", options_.duration))
    {
        options_.duration.clear();
    }

    /// Finds the best rate, which best() returns afterwards.
    void run(const std::string& range)
    {
        const std::size_t dots = range.find("..");
        double from = 0, to = kHighestRate;
        if (range != "true") {
            from = parse_rate("--find-rate", range.substr(0, dots));
            to = dots == std::string::npos ? 0 : parse_rate("--find-rate", range.substr(dots + 2));
            if (from <= 0 || to < from)
                fail_usage("--find-rate=" + range + " is not a range", "such as 1M..122.88M");
        }
        lowest_ = std::max(from, kLowestRate);
        const std::chrono::nanoseconds part = whole_ / 10;
        first(from, part);
        for (double before = 0; best_ && !worse_ && best_->rate < to && !over_;) {
            before = best_->rate;
            take(try_rate(std::min(2 * before, to), part));
            if (!worse_ && best_->rate <= before) // the source has no higher rate
                break;
        }
        descend(part);
        bisect(part);
        confirm();
    }

    const std::optional<Attempt>& best() const { return best_; }
    const std::optional<Attempt>& worse() const { return worse_; }
    const std::vector<Summary>& summaries() const { return summaries_; }
    /// Whether a signal or an error ended the search early.
    bool interrupted() const { return over_; }

private:
    // Runs at the lowest rate of the range, or at the source's present rate.
    void first(double from, std::chrono::nanoseconds duration)
    {
        const Attempt attempt = try_rate(from, duration);
        if (!over_ && attempt.rate <= 0)
            fail_usage(uris_[0].text() + " has no sample rate",
                       "--find-rate sets rate= of the source, such as iio: or sim:");
        if (!over_ && summaries_.back().started.empty())
            throw *summaries_.back().error;
        take(attempt);
    }

    void take(const Attempt& attempt)
    {
        if (!over_)
            (attempt.passed() ? best_ : worse_) = attempt;
    }

    // Halves the rate until one passes.
    void descend(std::chrono::nanoseconds duration)
    {
        while (!best_ && !over_ && worse_->rate > lowest_) {
            const double before = worse_->rate;
            take(try_rate(std::max(before / 2, lowest_), duration));
            if (!best_ && worse_->rate >= before) // the source has no lower rate
                return;
        }
    }

    void bisect(std::chrono::nanoseconds duration)
    {
        while (best_ && worse_ && worse_->rate > kResolution * best_->rate && !over_) {
            const Attempt attempt = try_rate(std::sqrt(best_->rate * worse_->rate), duration);
            if (attempt.rate <= best_->rate || attempt.rate >= worse_->rate)
                return; // the source has no rate in between
            take(attempt);
        }
    }

    // Blocks and pipes can hold the samples of a short run, and a short run can miss a rare loss,
    // so the best rate must pass a run of the whole duration. If it does not, the search below it
    // uses such runs.
    void confirm()
    {
        if (!best_ || over_)
            return;
        const Attempt attempt = try_rate(best_->rate, whole_);
        best_.reset();
        take(attempt);
        if (over_ || best_)
            return;
        descend(whole_);
        bisect(whole_);
    }

    // `rate` 0 leaves the rate as it is.
    Attempt try_rate(double rate, std::chrono::nanoseconds duration)
    {
        std::vector<Uri> uris = uris_;
        if (rate > 0)
            uris[0].options.set("rate", formatted("%.0f", rate));
        PipelineConfig config = options_.config(uris);
        config.duration = duration;
        summaries_.push_back(cli::run("bench", {config}, options_)[0]);
        Summary& summary = summaries_.back();
        Attempt attempt = attempt_of(summary, rate);
        attempt.wanted_seconds = std::chrono::duration<double>(duration).count();
        if (summary.ended == "signal")
            over_ = true;
        if (summary.error) {
            // A rate that the source cannot have, and one at which too much is lost, are results.
            // Any other error ends the search.
            attempt.error = summary.error->what();
            const Fault fault = summary.error->fault();
            const bool refused = rate > 0 && summary.started.empty() &&
                                 (fault == Fault::device || fault == Fault::usage);
            if (refused)
                attempt.rate = rate;
            over_ = over_ || (!refused && fault != Fault::samples);
        } else if (!attempt.bounded &&
                   summary.stats.gaps.certain + summary.stats.gaps.possible == 0)
            fail_usage(uris_[0].text() + " cannot detect losses",
                       "--find-rate needs a source that can; see 'gaps' in a stream's summary");
        if (!over_ && !options_.quiet && !options_.wants_json())
            print_line(stderr, "  %s", text_of(attempt).c_str());
        return attempt;
    }

    const std::vector<Uri>& uris_;
    StreamOptions options_;
    std::chrono::nanoseconds whole_;
    std::vector<Summary> summaries_;
    std::optional<Attempt> best_, worse_; ///< worse: the lowest rate that did not pass
    double lowest_ = kLowestRate;         ///< S/s
    bool over_ = false;                   ///< a signal or an error has ended the search
};

Json json_of(const std::optional<Attempt>& attempt)
{
    if (!attempt)
        return nullptr;
    const bool known = attempt->bounded && attempt->error.empty();
    return {{"rate", attempt->rate},
            {"seconds", attempt->seconds},
            {"samples", attempt->produced},
            {"lost_max", known ? Json(attempt->lost) : Json(nullptr)},
            {"achieved_rate", attempt->achieved},
            {"error", or_null(attempt->error)}};
}

} // namespace

int find_rate(const std::string& range, const std::vector<Uri>& uris, StreamOptions options)
{
    if (uris[0].options.get("rate", "").size() + uris[0].options.get("sample_rate", "").size() != 0)
        fail_usage("--find-rate sets rate= of the source itself", "--find-rate=FROM..TO limits it");
    Search search(uris, options);
    search.run(range);
    const std::optional<Attempt> best = search.interrupted() ? std::nullopt : search.best();
    if (options.wants_json()) {
        Json answer = runs_json("bench", search.summaries());
        answer["find_rate"] = {{"best", json_of(best)}, {"above", json_of(search.worse())}};
        print_result(json_text(answer), search.summaries(), options);
    }
    if (search.interrupted()) {
        const Summary& last = search.summaries().back();
        if (last.error)
            throw *last.error;
        print_line(stderr, "iio-stream: bench: interrupted before a rate was confirmed");
        return 1;
    }
    if (!options.wants_json() && !options.quiet) {
        const std::string above = search.worse() ? text_of(*search.worse()) : "";
        const std::string text = best ? text_of(*best) + (above.empty() ? "" : "; ") : "";
        print_result(printable(text + above) + "\n", search.summaries(), options);
    }
    return best ? 0 : kSamplesLost;
}

} // namespace iio_stream::cli
