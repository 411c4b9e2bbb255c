// SPDX-License-Identifier: MIT
#include "file/source.hpp"

#include "core/base/text.hpp"
#include "core/format/format_options.hpp"
#include "file/io/direct_input.hpp"
#include "file/journal/journal.hpp"
#include "file/options.hpp"
#include "file/stated_facts.hpp"
#include "file/wav/header.hpp"
#include "file/wav/source.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <utility>

namespace iio_stream::file {

namespace {

// The size of a file; 0 if the file does not exist or has no size.
std::uint64_t size_of(const std::string& path)
{
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
}

} // namespace

void refuse_unfinished_file(const std::string& path)
{
    if (sys::path_exists(journal_path(path))) // reserved space would be read as samples
        throw Error(Fault::storage, EBUSY, "read", path,
                    "it is still being recorded, or was interrupted",
                    "after an interruption: iio-stream recover " + path);
}

SourceSettings SourceSettings::from(Uri& uri, FileTarget target)
{
    SourceSettings s;
    s.target = std::move(target);
    const std::string& path = s.target.path;
    if (path.empty())
        fail_usage("file: needs a path");
    refuse_unfinished_file(path);
    const NamedFacts named = facts_in_name(path);
    const std::string& suffix = s.target.suffix.format;
    if (suffix.empty() && !named.format.empty() && !uri.options.has(kSourceOptions["format"]))
        s.remark = "format=" + named.format + " is from the file's name";
    s.format = detail::format_from_options(uri.options, suffix.empty() ? named.format : suffix, "",
                                           path + ": the name does not state the sample format",
                                           "add it, such as format=ci16_le");
    require_format_of_suffix(s.target, s.format);
    if (s.format.sample_rate <= 0 && named.rate) {
        s.format.sample_rate = *named.rate;
        detail::add_clause(s.remark, "the sample rate is from the file's name");
    }
    if (const auto skip = uri.options.take_size(kRawSourceOptions["skip"]).value_or(0); skip != 0)
        s.layout.headers = {{0, skip}};
    s.take_circumstances(uri.options, named);
    s.take_reading(uri.options);
    s.describe_samples();
    return s;
}

void SourceSettings::take_reading(Options& options)
{
    loop = options.take_switch_or_standard(kSourceOptions["loop"]);
    io.take(options);
}

void SourceSettings::take_circumstances(Options& options, const NamedFacts& named)
{
    const StatedFacts stated = StatedFacts::from(options);
    if (stated.frequency) {
        tuning.frequency = stated.frequency;
    } else if (!tuning.frequency && named.frequency) {
        tuning.frequency = named.frequency;
        detail::add_clause(remark, "the frequency is from the file's name");
    }
    if (stated.utc_ns) {
        utc_ns = stated.utc_ns;
    } else if (!utc_ns && named.utc_ns) {
        utc_ns = named.utc_ns;
        detail::add_clause(remark, "the time is from the file's name");
    }
}

void SourceSettings::describe_samples()
{
    if (!utc_ns || loop)
        return;
    metadata = metadata_of_start(*utc_ns, format.sample_rate, tuning.frequency);
    timeline = Timeline(Json::parse(*metadata));
}

void SourceSettings::set_place(std::uint64_t begin, std::uint64_t end, std::uint64_t size)
{
    layout.trailing_bytes += size - end;
    if (begin == 0)
        return;
    if (layout.headers.empty() || layout.headers[0].sample != 0)
        layout.headers.insert(layout.headers.begin(), {0, 0});
    layout.headers[0].bytes += begin;
}

std::uint64_t SourceSettings::header_bytes() const noexcept
{
    const auto& headers = layout.headers;
    return headers.empty() || headers[0].sample != 0 ? 0 : headers[0].bytes;
}

FileIoPlan RawSource::io_plan(std::size_t block_size) const
{
    if (!io_plan_ && settings_.packed24) {
        const std::string why = "values of 24 bits become 32 while they are read";
        if (settings_.io.forced())
            fail_usage(settings_.target.path + ": it cannot be read directly: " + why,
                       "direct=auto reads through the page cache");
        io_plan_ = FileIoPlan{};
        io_plan_->reason = "read() copies out of the page cache: " + why;
    } else if (!io_plan_) {
        io_plan_ = plan_file_io(settings_.io, settings_.target, IoDirection::read);
    }
    if (io_plan_->engine == IoEngine::buffered || !settings_.loop || settings_.io.forced() ||
        stored_bytes() >= block_size)
        return *io_plan_;
    FileIoPlan buffered;
    buffered.reason =
        "the looping file is shorter than a block: read() gets it from the page cache";
    return buffered;
}

std::optional<Hop> RawSource::plan(const MemoryTraits& traits, std::string&) const
{
    const FileIoPlan plan = io_plan(traits.block_size);
    Hop hop;
    hop.mechanism = plan.mechanism();
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = plan.reason;
    for (const std::string& warning : settings_.warnings)
        hop.warning += (hop.warning.empty() ? "" : "\n") + printable(warning);
    if (settings_.zeros != 0) // blocks cannot carry this fact
        detail::add_clause(hop.reason, std::to_string(settings_.zeros) +
                                           " of the samples are zeros in place of lost ones, "
                                           "which only a SigMF copy records");
    if (!settings_.remark.empty())
        detail::add_clause(hop.reason, settings_.remark);
    if (plan.engine == IoEngine::buffered)
        return hop;
    const std::string copy = ": one copy out of staging buffers";
    if (const std::string why = plan.why_staged(traits, IoDirection::read); !why.empty())
        detail::add_clause(hop.reason, why + copy);
    else if (settings_.header_bytes() % plan.io.offset_align != 0)
        detail::add_clause(hop.reason, "the samples begin at byte " +
                                           std::to_string(settings_.header_bytes()) +
                                           " of the file, not at a multiple of the disk's " +
                                           std::to_string(plan.io.offset_align) + copy);
    else if (settings_.loop && stored_bytes() % plan.io.offset_align != 0)
        detail::add_clause(hop.reason,
                           "the size of the looping file is not a multiple of the disk's " +
                               std::to_string(plan.io.offset_align) + " bytes" + copy +
                               " after its first end");
    else
        hop.copies = 0;
    return hop;
}

// Bytes of samples in the file; 0 if the file does not exist or has no size.
std::uint64_t RawSource::stored_bytes() const
{
    const std::uint64_t size = size_of(settings_.target.path);
    std::uint64_t others = settings_.layout.trailing_bytes;
    for (const DataLayout::Header& header : settings_.layout.headers)
        others += header.bytes;
    return size - std::min(others, size);
}

// Finds the samples in the open file and sets length_.
OpenInput RawSource::find_samples(bool regular, std::uint64_t size)
{
    const std::string& path = settings_.target.path;
    OpenInput file{fd_.get(), path, settings_.loop};
    length_ = 0;
    if (regular && settings_.layout.is_plain() && begins_with_riff(fd_.get()))
        throw Error(Fault::storage, EINVAL, "read", path,
                    "it begins with the header of a WAV file, which would be played as samples",
                    settings_.target.is_standard_stream ? "give the file by its name" : "");
    if (!regular || settings_.target.is_standard_stream) {
        file.skip = settings_.header_bytes();
        return file;
    }
    const std::size_t sample =
        settings_.packed24 ? settings_.format.sample_bytes / 4 * 3 : settings_.format.sample_bytes;
    auto ranges = settings_.layout.ranges(size, sample, path);
    const std::uint64_t bytes = bytes_in(ranges);
    if (bytes % sample != 0)
        throw Error(Fault::storage, EINVAL, "read", path,
                    "its " + std::to_string(bytes) +
                        " bytes are not a whole number of samples of " + std::to_string(sample) +
                        " bytes",
                    "is format= right?");
    length_ = bytes / sample;
    if (!settings_.layout.is_plain()) // otherwise the file may grow while it is read
        file.ranges = std::move(ranges);
    return file;
}

bool RawSource::prepare(BlockPool& pool, std::string& why)
{
    const std::string& path = settings_.target.path;
    const FileIoPlan plan = io_plan(pool.block_size());
    input_.reset();
    if (settings_.target.is_standard_stream)
        fd_ = sys::own_standard_stream(0);
    else
        fd_ = sys::open_file(path, O_RDONLY |
                                       (plan.engine == IoEngine::buffered ? O_NONBLOCK : O_DIRECT));
    const bool regular = sys::is_regular(fd_.get());
    if (regular) // keeps other programs from replacing the file; a file that is being written can
                 // still be read
        (void)sys::try_lock(fd_.get(), sys::Lock::shared);
    const std::uint64_t size = regular ? sys::file_size(fd_.get(), path) : 0;
    const OpenInput file = find_samples(regular, size);
    if (settings_.packed24) {
        input_ = make_packed24_input(file, pool.count());
    } else if (plan.engine == IoEngine::buffered) {
        input_ = make_buffered_input(file, pool, settings_.format);
    } else {
        const DirectReading reading{
            plan.io, plan.engine,
            settings_.io.depth_for(pool.block_size(), pool.count() * pool.block_size()), size,
            !plan.why_staged(pool.traits(), IoDirection::read).empty() ||
                settings_.header_bytes() % plan.io.offset_align != 0};
        auto direct = std::make_unique<DirectInput>(file, reading, pool);
        why = direct->remark();
        input_ = std::move(direct);
    }
    tracker_.reset(settings_.format.sample_bytes);
    round_ = 0;
    next_gap_ = 0;
    evidence_ = {};
    torn_ = flushing_ = false;
    return true;
}

void RawSource::stop() noexcept
{
    input_.reset();
    if (fd_.valid() && !settings_.target.is_standard_stream)
        sys::unlock(fd_.get());
    fd_.reset();
}

// A pipe has no deadline unless the user has set one. A disk has a deadline of its own.
bool RawSource::on_timeout(std::optional<std::chrono::nanoseconds> chosen)
{
    if (input_)
        input_->on_timeout();
    if (!chosen || !fd_.valid() || sys::is_regular(fd_.get()))
        return false;
    const FileTarget& target = settings_.target;
    throw Error(Fault::device, ETIMEDOUT, "read",
                target.is_standard_stream ? "standard input" : target.path,
                "no samples came within " + std::to_string(chosen->count() / 1'000'000) + " ms",
                "--timeout waits longer; without it, a pipe has no deadline");
}

// Reports the gaps that begin in the next `samples` samples, or before them.
void RawSource::report_gaps(std::uint64_t samples)
{
    const auto& gaps = settings_.gaps;
    const std::uint64_t end = tracker_.position() + samples;
    if (gaps.empty())
        return;
    for (;;) {
        for (; next_gap_ < gaps.size() && round_ + gaps[next_gap_].offset_min < end; ++next_gap_) {
            Gap gap = gaps[next_gap_];
            gap.offset_min += round_;
            gap.offset_max += round_;
            tracker_.gap(gap);
            evidence_[static_cast<std::size_t>(gap.evidence)] = true;
        }
        // A short file repeats more than once in a block.
        if (!settings_.loop || length_ == 0 || round_ + length_ >= end)
            return;
        round_ += length_;
        next_gap_ = 0;
    }
}

// The time of the next block. A raw file does not state when its samples were taken.
Time RawSource::time_of_block(std::uint64_t samples) const noexcept
{
    const auto ns = settings_.timeline.end_ns_of(tracker_.position() + samples);
    return ns ? Time{Clock::realtime, *ns, std::nullopt} : Time{};
}

SourceStats RawSource::stats() const
{
    SourceStats stats;
    stats.trailing = tracker_.left();
    for (std::size_t i = 0; i < evidence_.size(); ++i)
        if (evidence_[i])
            stats.evidence.push_back(static_cast<Evidence>(i));
    return stats;
}

Taken RawSource::take()
{
    const std::size_t sample = settings_.format.sample_bytes;
    Got got;
    if (!torn_)
        got = input_->take();
    std::size_t bytes = got.order ? got.order->bytes : 0;
    torn_ = torn_ || bytes % sample != 0;
    bytes -= bytes % sample;
    if (torn_ && bytes == 0 && !flushing_) // the whole samples have been delivered
        throw Error(Fault::storage, EINVAL, "read", settings_.target.path,
                    "it ends in the middle of a sample of " + std::to_string(sample) + " bytes");
    if (!got.order || bytes == 0)
        return {std::nullopt, got.ended};
    report_gaps(bytes / sample);
    const BlockInfo info = tracker_.next(bytes, time_of_block(bytes / sample));
    return {std::move(got.order->block).fill(info), got.ended && !torn_};
}

} // namespace iio_stream::file
