// SPDX-License-Identifier: MIT
#include "file/source.hpp"

#include "core/stated_format.hpp"
#include "core/text.hpp"
#include "file/direct_input.hpp"
#include "file/journal.hpp"
#include "file/options.hpp"
#include "file/raw.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>

namespace iio_stream::file {

namespace {

// 0 if it does not exist or has no size.
std::uint64_t size_of(const std::string& path)
{
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
}

} // namespace

SourceSettings SourceSettings::from(Uri& uri)
{
    SourceSettings s;
    s.path = uri.rest;
    if (s.path.empty())
        fail_usage("file: needs a path");
    if (sys::path_exists(journal_path(s.path))) // what follows its samples would pass for some
        throw Error(Fault::storage, EBUSY, "read", s.path,
                    "it is still being recorded, or was interrupted",
                    "after an interruption: iio-stream recover " + s.path);
    const NameSays says = what_name_says(s.path);
    s.format = detail::stated_format(uri.options, says.format,
                                     s.path + ": the name does not say the sample format",
                                     "say it: format=ci16_le");
    refuse_contradiction(s.path, s.format);
    s.loop = parse_switch("loop", uri.options.take_or_standard(kSourceOptions["loop"]));
    s.io.take(uri.options);
    return s;
}

Way RawSource::way(std::size_t block_size) const
{
    if (!way_)
        way_ = choose_way(settings_.io, settings_.path, Use::read);
    if (way_->engine == Engine::buffered || !settings_.loop || settings_.io.forced() ||
        size_of(settings_.path) >= block_size)
        return *way_;
    Way buffered;
    buffered.reason =
        "the looping file is shorter than a block: read() gets it from the page cache";
    return buffered;
}

std::optional<Hop> RawSource::plan(const MemoryTraits& traits, std::string&) const
{
    const Way how = way(traits.block_size);
    Hop hop;
    hop.mechanism = how.mechanism();
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = how.reason;
    if (settings_.zeros != 0) // blocks cannot say so
        detail::add_clause(
            hop.reason,
            std::to_string(settings_.zeros) +
                " of the samples are zeros in place of lost ones, which a copy does not know");
    if (how.engine == Engine::buffered)
        return hop;
    const std::string copy = ": one copy out of staging buffers";
    if (const std::string why = how.why_staged(traits, Use::read); !why.empty())
        detail::add_clause(hop.reason, why + copy);
    else if (settings_.loop && size_of(settings_.path) % how.io.offset_align != 0)
        detail::add_clause(hop.reason,
                           "the size of the looping file is not a multiple of the disk's " +
                               std::to_string(how.io.offset_align) + " bytes" + copy +
                               " after its first end");
    else
        hop.copies = 0;
    return hop;
}

bool RawSource::prepare(BlockPool& pool, std::string& why)
{
    const std::string& path = settings_.path;
    const Way how = way(pool.block_size());
    input_.reset();
    if (path == "-")
        fd_ = sys::own_standard_stream(0);
    else
        fd_ = sys::open_file(path,
                             O_RDONLY | (how.engine == Engine::buffered ? O_NONBLOCK : O_DIRECT));
    const bool regular = sys::is_regular(fd_.get());
    if (regular) // so that it is not replaced meanwhile; a file being written may be read
        (void)sys::try_lock(fd_.get(), sys::Lock::shared);
    const std::size_t sample = settings_.format.sample_bytes;
    const std::uint64_t size = regular ? sys::file_size(fd_.get(), path) : 0;
    if (path != "-" && size % sample != 0)
        throw Error(Fault::storage, EINVAL, "read", path,
                    "its " + std::to_string(size) + " bytes are not a whole number of samples of " +
                        std::to_string(sample) + " bytes",
                    "is format= right?");
    length_ = size / sample;
    const OpenInput file{fd_.get(), path, settings_.loop};
    if (how.engine == Engine::buffered) {
        input_ = make_buffered_input(file, pool.count());
    } else {
        const DirectReading reading{
            how.io, how.engine,
            settings_.io.depth_for(pool.block_size(), pool.count() * pool.block_size()), size,
            !how.why_staged(pool.traits(), Use::read).empty()};
        auto direct = std::make_unique<DirectInput>(file, reading, pool);
        why = direct->remark();
        input_ = std::move(direct);
    }
    tracker_.reset(sample);
    round_ = 0;
    next_gap_ = 0;
    torn_ = false;
    return true;
}

void RawSource::stop() noexcept
{
    input_.reset();
    if (fd_.valid() && settings_.path != "-")
        sys::unlock(fd_.get());
    fd_.reset();
}

bool RawSource::settle()
{
    if (input_)
        input_->settle();
    return false; // the other end of a pipe may take any time
}

// The gaps that begin in the next `samples` samples, or before them.
void RawSource::tell_gaps(std::uint64_t samples)
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
        }
        // A short file repeats more than once in a block.
        if (!settings_.loop || length_ == 0 || round_ + length_ >= end)
            return;
        round_ += length_;
        next_gap_ = 0;
    }
}

SourceStats RawSource::stats() const
{
    SourceStats stats;
    stats.trailing = tracker_.left();
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
    if (torn_ && bytes == 0) // whole samples went before
        throw Error(Fault::storage, EINVAL, "read", settings_.path,
                    "it ends in the middle of a sample of " + std::to_string(sample) + " bytes");
    if (!got.order)
        return {std::nullopt, got.ended};
    tell_gaps(bytes / sample);
    const BlockInfo info =
        tracker_.next(bytes, {Clock::monotonic, sys::monotonic_ns(), std::nullopt});
    return {std::move(got.order->block).fill(info), got.ended && !torn_};
}

} // namespace iio_stream::file
