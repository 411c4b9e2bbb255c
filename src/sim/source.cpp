// SPDX-License-Identifier: MIT
#include "sim/source.hpp"

#include "core/memory/fill_deadline.hpp"
#include "iio_stream/units.hpp"
#include "sim/options.hpp"
#include "sim/sim.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <poll.h>

namespace iio_stream::sim {

namespace {

std::uint64_t samples_in(std::int64_t ns, double rate)
{
    return ns <= 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(ns) * 1e-9 * rate);
}

// The frequency can be negative because the samples are complex.
double parse_tone(std::string_view text)
{
    const bool below = text.starts_with('-');
    const double frequency = parse_rate("frequency", text.substr(below ? 1 : 0));
    return below ? -frequency : frequency;
}

} // namespace

Settings Settings::from(Options& options)
{
    Settings s;
    const std::string format = options.take_or_standard(kOptions["format"]);
    s.format = Format::parse(format, options.take(kOptions["channels"]).value_or(""));
    s.format.sample_rate = options.take_rate_or_standard(kOptions["rate"]);
    // Without a rate, the samples measure throughput, and generating them should cost little.
    const std::string_view standard = s.format.sample_rate > 0 ? "radio" : "ramp";
    s.pattern = detail::parse_pattern(
        "pattern", options.take(kOptions["pattern"]).value_or(std::string(standard)));
    const bool has_tone = s.pattern == detail::Pattern::tone || s.pattern == detail::Pattern::radio;
    const auto frequency = options.take(kOptions["frequency"]);
    s.frequency = frequency ? parse_tone(*frequency) : s.format.sample_rate / 10;
    if (frequency && has_tone && s.format.sample_rate > 0 &&
        std::abs(s.frequency) > s.format.sample_rate / 2)
        fail_usage("frequency=" + *frequency + " is above half the rate",
                   "a tone is between -rate/2 and rate/2; sim: has no mixer");
    s.seed = options.take_size_or_standard(kOptions["seed"]);
    s.drop_at = options.take_size(kOptions["drop_at"]).value_or(s.drop_at);
    s.drop = options.take_size_or_standard(kOptions["drop"]);
    s.stall_at = options.take_size(kOptions["stall_at"]).value_or(s.stall_at);
    s.stall_ns = options.take_duration_or_standard(kOptions["stall_for"]).count();
    s.unplug_at = options.take_size(kOptions["unplug_at"]).value_or(s.unplug_at);
    s.silent = options.take_switch_or_standard(kOptions["silent"]);
    return s;
}

SimSource::SimSource(Settings settings)
    : settings_(std::move(settings)),
      generator_(settings_.pattern, settings_.format, settings_.frequency, settings_.seed)
{}

std::optional<Hop> SimSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "generated";
    hop.cpu = true;
    return hop;
}

bool SimSource::prepare(BlockPool& pool, std::string&)
{
    tracker_.reset(settings_.format.sample_bytes);
    queue_.reset(pool.count());
    sample_ = jump_ = jump_after_ = 0;
    running_ = dropped_ = stalled_ = unplugged_ = flushing_ = false;
    return true;
}

void SimSource::start()
{
    start_ns_ = sys::monotonic_ns();
    running_ = true;
    if (!queue_.empty())
        schedule();
}

void SimSource::stop() noexcept
{
    running_ = false;
    queue_.clear();
}

std::int64_t SimSource::time_of(std::uint64_t sample) const noexcept
{
    const double seconds = static_cast<double>(sample) / settings_.format.sample_rate;
    return start_ns_ + static_cast<std::int64_t>(seconds * 1e9);
}

void SimSource::lose(std::uint64_t at_offset, std::uint64_t samples)
{
    if (samples != 0 && !settings_.silent)
        tracker_.gap({at_offset, at_offset, samples, samples, Evidence::counter});
}

void SimSource::submit(EmptyBlock block, std::size_t bytes)
{
    const bool starved = running_ && queue_.empty();
    queue_.push({std::move(block), bytes});
    if (!starved)
        return;
    if (settings_.format.sample_rate > 0) {
        const std::uint64_t made =
            samples_in(sys::monotonic_ns() - start_ns_, settings_.format.sample_rate);
        if (made > sample_) {
            lose(tracker_.position(), made - sample_);
            sample_ = made;
        }
    }
    schedule();
}

// Computes when the front block, which is filled next, will be full, and which samples are lost in
// it.
void SimSource::schedule()
{
    const std::uint64_t samples = queue_.front().bytes / settings_.format.sample_bytes;
    due_ns_ = 0; // at once
    run_faults(samples);
    if (settings_.format.sample_rate > 0)
        due_ns_ = time_of(sample_ + samples + jump_);
    part_ns_ = 0;
    if (settings_.format.sample_rate > 0 && jump_ == 0) {
        part_ns_ = std::max(time_of(sample_) + detail::kLongestFillNs, time_of(sample_ + 1));
        part_ns_ = part_ns_ < due_ns_ ? part_ns_ : 0;
    }
    if (due_ns_ != 0)
        timer_.set(due_ns_);
}

// Returns how many bytes of the front block can be handed out at `now_ns`. A block with a loss in
// it is handed out only when it is full.
std::size_t SimSource::bytes_wanted(std::int64_t now_ns) const
{
    const std::size_t all = queue_.front().bytes;
    if (now_ns >= due_ns_)
        return all;
    if (jump_ != 0 || !(flushing_ || (part_ns_ != 0 && now_ns >= part_ns_)))
        return 0;
    const std::uint64_t made = samples_in(now_ns - start_ns_, settings_.format.sample_rate);
    const std::uint64_t samples = made - std::min(made, sample_);
    return std::min(all, static_cast<std::size_t>(samples) * settings_.format.sample_bytes);
}

// Applies at most one loss per block. A second fault in this block, or one at a sample that is
// already lost, takes effect in the next block.
void SimSource::run_faults(std::uint64_t samples)
{
    const auto is_due = [&](std::uint64_t at) { return at < sample_ + samples; };
    jump_ = 0;
    unplugged_ = is_due(settings_.unplug_at);
    if (!dropped_ && is_due(settings_.drop_at)) {
        dropped_ = true;
        jump_ = settings_.drop;
        jump_after_ = std::max(settings_.drop_at, sample_) - sample_;
    } else if (!stalled_ && is_due(settings_.stall_at)) {
        stalled_ = true;
        jump_ = samples_in(settings_.stall_ns, settings_.format.sample_rate);
        jump_after_ = std::max(settings_.stall_at, sample_) - sample_;
        due_ns_ = sys::monotonic_ns() + settings_.stall_ns;
    }
    lose(tracker_.position() + jump_after_, jump_);
}

void SimSource::fill(std::span<std::byte> out)
{
    const std::size_t before =
        jump_ == 0 ? out.size()
                   : static_cast<std::size_t>(jump_after_) * settings_.format.sample_bytes;
    generator_.fill(out.first(before), sample_);
    generator_.fill(out.subspan(before), sample_ + jump_after_ + jump_);
}

Taken SimSource::take()
{
    if (queue_.empty() || !running_)
        return {};
    if (unplugged_)
        throw Error(Fault::device, ENODEV, "read", "sim:", {}, "unplug_at was given");
    const std::int64_t now = sys::monotonic_ns();
    const std::size_t bytes = bytes_wanted(now);
    if (bytes == 0)
        return {};
    detail::FillRequest empty = queue_.pop();
    const bool full = bytes == empty.bytes;
    empty.bytes = bytes;
    {
        const CpuWrite guard{empty.block};
        fill(guard.bytes().first(empty.bytes));
    }
    sample_ += empty.bytes / settings_.format.sample_bytes + jump_;
    const std::int64_t full_ns = due_ns_ == 0 || !full ? now : due_ns_;
    const BlockInfo info = tracker_.next(empty.bytes, {Clock::monotonic, full_ns, 0});
    if (!queue_.empty())
        schedule();
    return {std::move(empty.block).fill(info), false};
}

Wait SimSource::wait()
{
    if (queue_.empty())
        return {};
    if (due_ns_ == 0)
        return {-1, 0, 0, true};
    return {timer_.fd(), POLLIN, part_ns_, false};
}

Scheme scheme()
{
    return {
        "sim",
        [](Uri& uri) -> std::unique_ptr<Source> {
            if (!uri.rest.empty())
                fail_usage("sim:" + uri.rest + ": sim: takes no name",
                           uri.rest.find('=') != std::string::npos
                               ? "did you mean 'sim: " + uri.rest + "'?"
                               : "options follow as separate words: sim: pattern=tone");
            return std::make_unique<SimSource>(Settings::from(uri.options));
        },
        {},
        "",
        "An ADC inside this process: test patterns, and losses on request",
        "iio-stream record sim: pattern=tone rate=1M capture.sigmf-meta overwrite=on --duration 2s",
        join(kOptions)};
}

} // namespace iio_stream::sim
