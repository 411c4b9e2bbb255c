// SPDX-License-Identifier: MIT
// 6xx: losses are reported, with their evidence, and nothing is lost without a reason.
#include "conformance/loss_trial.hpp"
#include "conformance/streaming.hpp"
#include "core/text.hpp"
#include "iio/overflow_register.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/units.hpp"

namespace iio_stream::conformance {

namespace {

using namespace std::chrono_literals;

constexpr double kStallSeconds = 0.3;
constexpr double kTolerance = 0.1; ///< relative, of a stall's length
constexpr double kSteadySeconds = 1;

std::string evidence_text(const std::vector<Evidence>& evidence)
{
    std::string text;
    for (const Evidence one : evidence)
        detail::add_item(text, name_of(one));
    return text.empty() ? "no evidence" : text;
}

Facts facts_of(const LossTrial& trial)
{
    Facts facts{{"certain", static_cast<std::int64_t>(trial.gaps.certain)},
                {"possible", static_cast<std::int64_t>(trial.gaps.possible)},
                {"lost_min", static_cast<std::int64_t>(trial.gaps.lost_min)},
                {"evidence", evidence_text(trial.used)},
                {"stall_seconds", trial.stalled}};
    if (trial.gaps.lost_max != kUnknown)
        facts.push_back({"lost_max", static_cast<std::int64_t>(trial.gaps.lost_max)});
    if (trial.truth)
        facts.push_back({"lost_by_pattern", static_cast<std::int64_t>(*trial.truth)});
    return facts;
}

// What the report of a stall lacks; empty if it covers the loss.
std::string why_not_reported(const Subject& subject, const LossTrial& trial)
{
    const GapTotals& gaps = trial.gaps;
    const std::string reported = format_bounds(gaps.lost_min, gaps.lost_max) + " lost samples";
    if (trial.truth && (*trial.truth < gaps.lost_min || *trial.truth > gaps.lost_max))
        return std::to_string(*trial.truth) +
               " samples were lost by the pattern in the data, and " + reported + " were reported";
    if (trial.truth)
        return "";
    if (gaps.certain + gaps.possible == 0)
        return "a stall of " + seconds_text(trial.stalled) + " was not reported";
    const double expected = trial.stalled * (1 - kTolerance) * subject.rate();
    if (subject.rate() > 0 && gaps.lost_max != kUnknown &&
        static_cast<double>(gaps.lost_max) < expected)
        return "a stall of " + seconds_text(trial.stalled) + " was reported as " + reported +
               ", less than the " + std::to_string(static_cast<std::uint64_t>(expected)) +
               " that the rate makes likely";
    return "";
}

void stall_by(Run& run, const Subject& subject, const Way& way)
{
    const LossTrial trial = run_with_stall(run, subject, way, kStallSeconds);
    if (run.stopped())
        return;
    if (const std::string why = why_not_reported(subject, trial); !why.empty())
        run.fail(why, facts_of(trial), way.text());
    else if (trial.truth && *trial.truth == 0 && trial.gaps.certain + trial.gaps.possible == 0)
        run.pass("nothing was lost in a stall of " + seconds_text(trial.stalled) +
                     ", by the pattern in the data, and "
                     "nothing is reported",
                 facts_of(trial), way.text());
    else
        run.pass("a stall of " + seconds_text(trial.stalled) + " is reported as " +
                     format_bounds(trial.gaps.lost_min, trial.gaps.lost_max) +
                     " lost samples, by " + evidence_text(trial.used),
                 facts_of(trial), way.text());
}

} // namespace

void check_unprovoked_loss(Run& run, Subject* subject)
{
    const Way& way = subject->ways.front();
    const LossTrial trial = run_steadily(run, *subject, way, kSteadySeconds);
    if (run.stopped())
        return;
    std::string found = evidence_text(trial.used);
    if (trial.gaps.certain != 0 && way.path != "fileio")
        run.fail(format_bounds(trial.gaps.lost_min, trial.gaps.lost_max) +
                     " samples were lost in " + std::to_string(trial.gaps.certain) +
                     " places although the program kept up, by " + found +
                     "; the first after sample " + std::to_string(trial.first_offset),
                 facts_of(trial), way.text());
    else if (trial.truth && *trial.truth != 0 && way.path != "fileio")
        run.fail(std::to_string(*trial.truth) +
                     " samples are missing in the pattern of the data, and " +
                     (trial.gaps.possible == 0 ? "none was reported"
                                               : "only a possible loss was reported"),
                 facts_of(trial), way.text());
    else
        run.pass((trial.gaps.certain == 0
                      ? "none"
                      : "the copies of read() are too slow at this rate: losses") +
                     std::string(" in ") + std::to_string(trial.samples) + " samples, by " +
                     evidence_text(trial.available),
                 facts_of(trial), way.text());
}

void check_stall(Run& run, Subject* subject)
{
    if (!subject->dma) {
        run.skip("the buffer is the kernel's software FIFO, which drops samples without notice");
        return;
    }
    run.each_way(subject->one_way_per_path(),
                 [&](const Way& way) { stall_by(run, *subject, way); });
}

void check_overflow_register(Run& run, Subject* subject)
{
    std::string why;
    if (!iio::OverflowRegister::find(subject->device.id(), why)) {
        run.skip(why);
        return;
    }
    const LossTrial trial = run_with_stall(run, *subject, subject->ways.front(), kStallSeconds);
    if (run.stopped())
        return;
    const bool lost = trial.truth.value_or(0) != 0;
    const bool seen =
        std::find(trial.used.begin(), trial.used.end(), Evidence::overflow_bit) != trial.used.end();
    if (seen && trial.truth && !lost)
        run.fail("the overflow bit rose, and the pattern in the data shows no loss",
                 facts_of(trial));
    else if (seen)
        run.pass("proven: the bit rose with a loss of " +
                     format_bounds(trial.gaps.lost_min, trial.gaps.lost_max) + " samples",
                 facts_of(trial));
    else if (lost)
        run.fail(std::to_string(*trial.truth) +
                     " samples were lost in a stall, and the overflow bit did not rise",
                 facts_of(trial));
    else
        run.skip("not proven: the bit did not rise in a stall of " + seconds_text(trial.stalled) +
                 (trial.truth ? ", in which nothing was lost" : ", whose loss is not known"));
}

} // namespace iio_stream::conformance
