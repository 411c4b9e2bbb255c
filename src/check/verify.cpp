// SPDX-License-Identifier: MIT
#include "check/check.hpp"
#include "check/options.hpp"
#include "core/base/text.hpp"
#include "core/format/checker.hpp"
#include "core/format/stored_value.hpp"
#include "core/loss/losses.hpp"
#include "iio_stream/recording.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::check {

namespace {

// Parses ranges: "10-20,30-40".
std::vector<Zeros> parse_zeros(const std::string& text)
{
    std::vector<Zeros> list;
    for (const std::string& range : detail::split(text, ',')) {
        const std::size_t dash = range.find('-');
        if (range.empty())
            continue;
        if (dash == std::string::npos)
            fail_usage("zeros=" + range + " is not FIRST-END");
        list.push_back({parse_size("zeros", range.substr(0, dash)),
                        parse_size("zeros", range.substr(dash + 1))});
    }
    return list;
}

/// Compares every sample with a pattern. Compares the losses that it finds with the gaps that the
/// blocks report: a loss that no gap covers is silent.
class VerifySink final : public Sink {
public:
    explicit VerifySink(Uri& uri)
        : name_("verify:" + uri.rest),
          pattern_(detail::parse_pattern("verify", uri.rest)),
          first_(uri.options.take_size_or_standard(kVerifyOptions["first"])),
          first_exact_(uri.options.take_switch_or_standard(kVerifyOptions["first_exact"])),
          zeros_(parse_zeros(uri.options.take(kVerifyOptions["zeros"]).value_or("")))
    {
        if (pattern_ != detail::Pattern::ramp && pattern_ != detail::Pattern::lanes)
            fail_usage(name_ + ": only ramp and lanes can be verified");
        reported_.reserve(detail::Findings::kMaxJumps);
    }

    Fault fault() const noexcept override { return Fault::other; }
    SinkTraits traits() const noexcept override
    {
        return {.may_block = true}; // checking takes time
    }
    std::optional<Hop> plan(const MemoryTraits&, std::string&) const override
    {
        Hop hop;
        hop.mechanism = "checked";
        hop.cpu = true;
        return hop;
    }
    bool prepare(const StreamInfo& stream, BlockPool&, int, std::string&) override
    {
        checker_ = detail::Checker::make(pattern_, stream.format);
        sample_bytes_ = stream.format.sample_bytes;
        zero_ = detail::zero_sample(stream.format);
        checker_->begin_with(first_);
        filled_ = stream.cut;
        position_ = 0;
        next_zeros_ = 0;
        reported_.clear();
        if (!first_exact_)
            reported_.push_back({0, 0, 0, kUnknown, Evidence::counter});
        return true;
    }
    void submit(Block filled) override
    {
        for (const Gap& gap : filled.gaps())
            if (reported_.size() < reported_.capacity())
                reported_.push_back(gap);
        if (filled.state() == BlockState::unverified)
            accept_all_of(filled);
        checker_->expect_loss(most_lost_in(filled));
        const CpuRead data{filled};
        check(data.bytes());
    }
    void stop(Stop how, const StreamEnd& end) override;
    SinkResult result() const override;

private:
    bool are_zeros(std::span<const std::byte> samples) const;
    void check(std::span<const std::byte> samples);
    void accept_all_of(const Block& unverified);
    std::uint64_t most_lost_in(const Block& filled) const;
    std::uint64_t earliest_of(const detail::Jump& jump) const;
    std::optional<std::uint64_t> reported_at(const detail::Jump& jump) const;
    bool is_reported(const detail::Jump& jump) const;
    detail::Tail tail() const;
    std::uint64_t unreported() const;
    std::string silent_losses() const;
    std::uint64_t missing_at(const Gap& gap) const;
    std::uint64_t most_missing_at(const Gap& gap) const;
    bool is_overstated(const Gap& gap) const;
    std::string overstated_losses() const;

    std::string name_;
    detail::Pattern pattern_;
    std::uint64_t first_; ///< index of the first sample in the pattern
    bool first_exact_;    ///< false: the stream starts at first_ or later
    std::unique_ptr<detail::Checker> checker_;
    std::size_t sample_bytes_ = 1;
    bool filled_ = false; ///< zeros replace lost samples
    std::vector<Gap> reported_;
    std::vector<std::byte> zero_; ///< a sample of zero
    std::vector<Zeros> zeros_;    ///< in place of lost samples, in order
    std::size_t next_zeros_ = 0;
    std::uint64_t position_ = 0; ///< samples checked so far
};

bool VerifySink::are_zeros(std::span<const std::byte> samples) const
{
    for (; !samples.empty(); samples = samples.subspan(zero_.size()))
        if (!std::ranges::equal(samples.first(zero_.size()), zero_))
            return false;
    return true;
}

// Known zeros are compared with zeros; the pattern continues after them.
void VerifySink::check(std::span<const std::byte> samples)
{
    while (!samples.empty()) {
        while (next_zeros_ < zeros_.size() && zeros_[next_zeros_].end <= position_)
            ++next_zeros_;
        const bool some = next_zeros_ < zeros_.size();
        const bool inside = some && zeros_[next_zeros_].begin <= position_;
        const std::uint64_t until = inside ? zeros_[next_zeros_].end
                                    : some ? zeros_[next_zeros_].begin
                                           : kUnknown;
        const std::uint64_t count =
            std::min<std::uint64_t>(samples.size() / sample_bytes_, until - position_);
        const auto part = samples.first(static_cast<std::size_t>(count) * sample_bytes_);
        if (!inside) {
            checker_->feed(part);
        } else {
            if (!are_zeros(part))
                checker_->mismatch("data where zeros should replace lost samples");
            checker_->skip(count);
        }
        position_ += count;
        samples = samples.subspan(part.size());
    }
}

// Accepts any content of an unverified block: neither its samples nor the transitions to adjacent
// blocks are guaranteed.
void VerifySink::accept_all_of(const Block& unverified)
{
    const std::uint64_t begin = unverified.position();
    const std::uint64_t end = begin + unverified.bytes() / sample_bytes_;
    if (!reported_.empty() && reported_.back().lost_max == kUnknown &&
        reported_.back().offset_max == begin)
        reported_.back().offset_max = end;
    else if (reported_.size() < reported_.capacity())
        reported_.push_back({begin, end, 0, kUnknown, Evidence::dma_error});
}

// The largest number of samples that can be lost in a block or right before it, according to the
// reported gaps.
std::uint64_t VerifySink::most_lost_in(const Block& filled) const
{
    const std::uint64_t end = position_ + filled.bytes() / sample_bytes_;
    std::uint64_t most = 0;
    for (const Gap& gap : reported_)
        if (gap.offset_min <= end && position_ <= gap.offset_max + detail::Checker::kMostAlike)
            most = detail::add_losses(most, gap.lost_max);
    return most;
}

// Zeros do not show which samples they replace, so a loss that appears right after them might have
// happened right before them.
std::uint64_t VerifySink::earliest_of(const detail::Jump& jump) const
{
    std::uint64_t earliest = jump.earliest;
    for (auto zeros = zeros_.rbegin(); zeros != zeros_.rend(); ++zeros)
        if (zeros->begin < earliest && earliest <= zeros->end)
            earliest = zeros->begin;
    return earliest;
}

// The largest loss that the blocks report at the position of a jump; nullopt if they report none.
// The losses of overlapping gaps add up.
std::optional<std::uint64_t> VerifySink::reported_at(const detail::Jump& jump) const
{
    const std::uint64_t earliest = earliest_of(jump);
    std::optional<std::uint64_t> most;
    for (const Gap& gap : reported_)
        if (jump.offset >= gap.offset_min && earliest <= gap.offset_max)
            most = most.value_or(0) + std::min(gap.lost_max, kUnknown - most.value_or(0));
    return most;
}

bool VerifySink::is_reported(const detail::Jump& jump) const
{
    return jump.samples <= 0 ||
           static_cast<std::uint64_t>(jump.samples) <= reported_at(jump).value_or(0);
}

detail::Tail VerifySink::tail() const
{
    const std::uint64_t checked = checker_->findings().samples;
    const bool gap = std::any_of(reported_.begin(), reported_.end(), [&](const Gap& g) {
        return g.lost_max != 0 && g.offset_max + detail::Checker::kMostAlike >= checked;
    });
    return gap ? detail::Tail::of_gap : detail::Tail::of_no_gap;
}

std::uint64_t VerifySink::unreported() const
{
    const auto& jumps = checker_->findings().jumps;
    return static_cast<std::uint64_t>(std::count_if(
        jumps.begin(), jumps.end(), [&](const detail::Jump& jump) { return !is_reported(jump); }));
}

// Describes the unreported losses: their number, the place of the first one, and the largest loss
// that the blocks report there. Returns "" if there are none.
std::string VerifySink::silent_losses() const
{
    const std::uint64_t silent = unreported();
    if (silent == 0)
        return "";
    const auto& jumps = checker_->findings().jumps;
    const detail::Jump& first = *std::find_if(
        jumps.begin(), jumps.end(), [&](const detail::Jump& jump) { return !is_reported(jump); });
    std::string text = (silent == 1 ? "1 loss is" : std::to_string(silent) + " losses are") +
                       " not reported by any block; the first: " + std::to_string(first.samples) +
                       " samples missing at sample " + std::to_string(first.offset);
    if (const auto most = reported_at(first))
        text += ", where the blocks report at most " + std::to_string(*most);
    return text;
}

std::uint64_t VerifySink::missing_at(const Gap& gap) const
{
    std::uint64_t missing = 0;
    for (const detail::Jump& jump : checker_->findings().jumps)
        if (jump.samples > 0 && jump.offset >= gap.offset_min &&
            earliest_of(jump) <= gap.offset_max)
            missing += static_cast<std::uint64_t>(jump.samples);
    return missing;
}

// The sum of the largest losses of all gaps that overlap `gap`, itself included.
std::uint64_t VerifySink::most_missing_at(const Gap& gap) const
{
    std::uint64_t most = 0;
    for (const Gap& other : reported_)
        if (other.offset_min <= gap.offset_max + detail::Checker::kMostAlike &&
            gap.offset_min <= other.offset_max + detail::Checker::kMostAlike)
            most = detail::add_losses(most, other.lost_max);
    return most;
}

// If the pattern repeats, the samples show the number of missing samples only modulo its period.
bool VerifySink::is_overstated(const Gap& gap) const
{
    const std::uint64_t missing = missing_at(gap), period = checker_->period();
    if (missing >= gap.lost_min)
        return false;
    if (period == kUnknown)
        return true;
    const std::uint64_t more = (gap.lost_min - missing + period - 1) / period * period;
    return missing + more > most_missing_at(gap);
}

// Describes a gap that reports at least N lost samples where fewer are missing; empty if there is
// none. At the start and the end of a stream, missing samples cannot be counted.
std::string VerifySink::overstated_losses() const
{
    const detail::Findings& found = checker_->findings();
    if (filled_ || !zeros_.empty() || found.jumps.size() == detail::Findings::kMaxJumps)
        return "";
    for (const Gap& gap : reported_)
        if (gap.lost_min != 0 && gap.offset_min != 0 &&
            gap.offset_max + detail::Checker::kMostAlike < found.samples && is_overstated(gap))
            return "at least " + std::to_string(gap.lost_min) +
                   " samples are reported missing before sample " + std::to_string(gap.offset_max) +
                   ", but " + std::to_string(missing_at(gap)) + " are missing" +
                   (checker_->period() == kUnknown
                        ? ""
                        : ", or more by a multiple of " + std::to_string(checker_->period()));
    return "";
}

void VerifySink::stop(Stop how, const StreamEnd& end)
{
    if (checker_ == nullptr)
        return;
    reported_.insert(reported_.end(), end.gaps.begin(), end.gaps.end());
    checker_->finish(tail());
    if (how == Stop::abort)
        return;
    const detail::Findings& found = checker_->findings();
    std::string what = found.intact() ? silent_losses() : found.first;
    if (what.empty())
        what = overstated_losses();
    if (what.empty())
        return;
    throw Error(Fault::other, EBADMSG, "verify", name_, what);
}

SinkResult VerifySink::result() const
{
    if (checker_ == nullptr)
        return {};
    const detail::Findings& found = checker_->findings();
    nlohmann::ordered_json j{
        {"samples", found.samples}, {"mismatches", found.mismatches}, {"gaps", found.gaps},
        {"lost", found.lost},       {"repeats", found.repeats},       {"reorders", found.reorders},
        {"swaps", found.swaps},     {"unreported", unreported()},     {"first", nullptr}};
    if (!found.first.empty())
        j["first"] = found.first;
    return {.report = j.dump()};
}

} // namespace

Scheme verify_scheme()
{
    return {"verify",
            {},
            [](Uri& uri) -> std::unique_ptr<Sink> { return std::make_unique<VerifySink>(uri); },
            "ramp|lanes",
            "Compares every sample with a test pattern",
            "iio-stream stream sim: pattern=ramp verify:ramp --duration 2s",
            join(kVerifyOptions)};
}

} // namespace iio_stream::check

namespace iio_stream {

std::string verify_sink(const Recording& recording, const std::string& pattern)
{
    if (pattern != "ramp" && pattern != "lanes")
        fail_usage("pattern=" + pattern + " cannot be verified",
                   suggest(pattern, {"ramp", "lanes"}));
    std::string sink = "verify:" + pattern + "?first=" + std::to_string(recording.first_index) +
                       "&first_exact=" + (recording.first_exact ? "on" : "off");
    for (const Zeros& zeros : recording.zeros)
        sink += (&zeros == recording.zeros.data() ? "&zeros=" : ",") + std::to_string(zeros.begin) +
                "-" + std::to_string(zeros.end);
    return sink;
}

} // namespace iio_stream
