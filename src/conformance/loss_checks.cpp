// SPDX-License-Identifier: MIT
// 6xx: losses are reported, with their evidence, and nothing is lost without a reason.
#include "conformance/loss_run.hpp"
#include "conformance/streaming.hpp"
#include "core/base/text.hpp"
#include "iio/buffer/status_register.hpp"
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

Facts facts_of(const LossRun& losses)
{
    Facts facts{{"certain", static_cast<std::int64_t>(losses.gaps.certain)},
                {"possible", static_cast<std::int64_t>(losses.gaps.possible)},
                {"lost_min", static_cast<std::int64_t>(losses.gaps.lost_min)},
                {"evidence", evidence_text(losses.used)},
                {"stall_seconds", losses.stalled}};
    if (losses.gaps.lost_max != kUnknown)
        facts.push_back({"lost_max", static_cast<std::int64_t>(losses.gaps.lost_max)});
    if (losses.truth)
        facts.push_back({"lost_by_pattern", static_cast<std::int64_t>(*losses.truth)});
    return facts;
}

// The reason why the reports do not cover the loss of a stall; empty if they do.
std::string why_not_reported(const Subject& subject, const LossRun& losses)
{
    const GapTotals& gaps = losses.gaps;
    const std::string reported = format_bounds(gaps.lost_min, gaps.lost_max) + " lost samples";
    if (losses.truth && (*losses.truth < gaps.lost_min || *losses.truth > gaps.lost_max))
        return std::to_string(*losses.truth) +
               " samples were lost according to the pattern in the data, but " + reported +
               " were reported";
    if (losses.truth)
        return "";
    if (gaps.certain + gaps.possible == 0)
        return "a stall of " + seconds_text(losses.stalled) + " was not reported";
    const double expected = losses.stalled * (1 - kTolerance) * subject.rate();
    if (subject.rate() > 0 && gaps.lost_max != kUnknown &&
        static_cast<double>(gaps.lost_max) < expected)
        return "a stall of " + seconds_text(losses.stalled) + " was reported as " + reported +
               ", fewer than the " + std::to_string(static_cast<std::uint64_t>(expected)) +
               " expected at this rate";
    return "";
}

void stall_by(Run& run, const Subject& subject, const Way& way)
{
    const LossRun losses = run_with_stall(run, subject, way, kStallSeconds);
    if (run.stopped())
        return;
    if (const std::string why = why_not_reported(subject, losses); !why.empty())
        run.fail(why, facts_of(losses), way.text());
    else if (losses.truth && *losses.truth == 0 && losses.gaps.certain + losses.gaps.possible == 0)
        run.pass("nothing was lost in a stall of " + seconds_text(losses.stalled) +
                     ", according to the pattern in the data, and nothing is reported",
                 facts_of(losses), way.text());
    else
        run.pass("a stall of " + seconds_text(losses.stalled) + " is reported as " +
                     format_bounds(losses.gaps.lost_min, losses.gaps.lost_max) +
                     " lost samples, by " + evidence_text(losses.used),
                 facts_of(losses), way.text());
}

} // namespace

void check_unprovoked_loss(Run& run, Subject* subject)
{
    const Way& way = subject->ways.front();
    const LossRun losses = run_steadily(run, *subject, way, kSteadySeconds);
    if (run.stopped())
        return;
    std::string found = evidence_text(losses.used);
    if (losses.gaps.certain != 0 && way.path != "fileio")
        run.fail(format_bounds(losses.gaps.lost_min, losses.gaps.lost_max) +
                     " samples were lost in " + std::to_string(losses.gaps.certain) +
                     " places although the program kept up, by " + found +
                     "; the first after sample " + std::to_string(losses.first_offset),
                 facts_of(losses), way.text());
    else if (losses.truth && *losses.truth != 0 && way.path != "fileio")
        run.fail(std::to_string(*losses.truth) +
                     " samples are missing in the pattern of the data, and " +
                     (losses.gaps.possible == 0 ? "none was reported"
                                                : "only a possible loss was reported"),
                 facts_of(losses), way.text());
    else
        run.pass((losses.gaps.certain == 0
                      ? "none"
                      : "the copies of read() are too slow at this rate: losses") +
                     std::string(" in ") + std::to_string(losses.samples) + " samples, by " +
                     evidence_text(losses.available),
                 facts_of(losses), way.text());
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
    if (!iio::StatusRegister::find(subject->device.id(), why)) {
        run.skip(why);
        return;
    }
    const LossRun losses = run_with_stall(run, *subject, subject->ways.front(), kStallSeconds);
    if (run.stopped())
        return;
    const bool lost = losses.truth.value_or(0) != 0;
    const bool seen = std::find(losses.used.begin(), losses.used.end(), Evidence::overflow_bit) !=
                      losses.used.end();
    if (seen && losses.truth && !lost)
        run.fail("the overflow bit rose, but the pattern in the data shows no loss",
                 facts_of(losses));
    else if (seen)
        run.pass("proven: the bit rose with a loss of " +
                     format_bounds(losses.gaps.lost_min, losses.gaps.lost_max) + " samples",
                 facts_of(losses));
    else if (lost)
        run.fail(std::to_string(*losses.truth) +
                     " samples were lost in a stall, but the overflow bit did not rise",
                 facts_of(losses));
    else
        run.skip("not proven: the bit did not rise in a stall of " + seconds_text(losses.stalled) +
                 (losses.truth ? ", in which nothing was lost" : ", whose loss is unknown"));
}

} // namespace iio_stream::conformance
