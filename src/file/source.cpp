// SPDX-License-Identifier: MIT
#include "file/source.hpp"

#include "file/raw.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/stream_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>

namespace iio_stream::file {

SourceSettings SourceSettings::from(Uri& uri)
{
    SourceSettings s;
    s.path = uri.rest;
    if (s.path.empty())
        fail_usage("file: needs a path");
    const NameSays says = what_name_says(s.path);
    const std::string format = uri.options.take("format", says.format);
    const std::string channels = uri.options.take("channels", "");
    const auto rate = uri.options.take("rate");
    s.loop = parse_switch("loop", uri.options.take("loop", "off"));
    if (format.empty())
        fail_usage(s.path + ": the name does not tell the sample format", "format=ci16_le tells it");
    s.format = Format::parse(format, channels);
    if (rate)
        s.format.sample_rate = parse_rate("rate", *rate);
    return s;
}

std::optional<Hop> RawSource::plan(const MemoryTraits&, std::string&) const
{
    Hop hop;
    hop.mechanism = "buffered";
    hop.copies = 1;
    hop.cpu = true;
    hop.reason = "read() copies out of the page cache";
    return hop;
}

bool RawSource::prepare(BlockPool& pool, std::string&)
{
    const std::string& path = settings_.path;
    fd_ = path == "-" ? sys::own_standard_stream(0) : sys::open_file(path, O_RDONLY | O_NONBLOCK);
    regular_ = sys::is_regular(fd_.get());
    const std::size_t sample = settings_.format.sample_bytes;
    if (regular_ && path != "-" && sys::file_size(fd_.get(), path) % sample != 0)
        throw Error(Fault::storage, EINVAL, "read", path,
                    "its " + std::to_string(sys::file_size(fd_.get(), path)) +
                        " bytes are not a whole number of samples of " + std::to_string(sample) +
                        " bytes",
                    "is format= right?");
    length_ = regular_ ? sys::file_size(fd_.get(), path) / sample : 0;
    queue_.reset(pool.count());
    witness_.reset(sample);
    filled_ = 0;
    ended_ = false;
    round_ = 0;
    next_gap_ = 0;
    return true;
}

void RawSource::stop() noexcept
{
    queue_.clear();
    fd_.reset();
}

bool RawSource::rewind()
{
    if (!settings_.loop || (witness_.position() == 0 && filled_ == 0))
        return false; // an empty file would be read for ever
    if (::lseek(fd_.get(), 0, SEEK_SET) < 0)
        throw Error(Fault::storage, errno, "seek", settings_.path, {}, "a pipe cannot loop");
    return true;
}

// Reads towards a full block; false where more has to be waited for.
bool RawSource::read_more(detail::Order& empty)
{
    const CpuWrite out{empty.block};
    while (filled_ < empty.bytes) {
        if (!regular_ && !sys::has_news(fd_.get()))
            return false;
        const std::ptrdiff_t got = sys::read_some(
            fd_.get(), settings_.path, out.bytes().subspan(filled_, empty.bytes - filled_));
        if (got < 0)
            return false;
        filled_ += static_cast<std::size_t>(got);
        if (got == 0 && !rewind()) {
            ended_ = true;
            return true;
        }
    }
    return true;
}

// The gaps that begin in the next so many samples, or before them.
void RawSource::tell_gaps(std::uint64_t samples)
{
    const auto& gaps = settings_.gaps;
    const std::uint64_t end = witness_.position() + samples;
    if (gaps.empty())
        return;
    for (;;) {
        for (; next_gap_ < gaps.size() && round_ + gaps[next_gap_].offset_min < end; ++next_gap_) {
            Gap gap = gaps[next_gap_];
            gap.offset_min += round_;
            gap.offset_max += round_;
            witness_.gap(gap);
        }
        // A short file comes round more than once in a block.
        if (!settings_.loop || length_ == 0 || round_ + length_ >= end)
            return;
        round_ += length_;
        next_gap_ = 0;
    }
}

SourceStats RawSource::stats() const
{
    SourceStats stats;
    stats.trailing = witness_.left();
    return stats;
}

Taken RawSource::take()
{
    if (ended_)
        return {std::nullopt, true};
    if (queue_.empty() || !read_more(queue_.front()))
        return {};
    const std::size_t sample = settings_.format.sample_bytes;
    if (filled_ % sample != 0)
        throw Error(Fault::storage, EINVAL, "read", settings_.path,
                    "it ends in the middle of a sample of " + std::to_string(sample) + " bytes");
    if (filled_ == 0)
        return {std::nullopt, true};
    detail::Order empty = queue_.pop();
    tell_gaps(filled_ / sample);
    const BlockInfo info =
        witness_.next(filled_, {Clock::monotonic, sys::monotonic_ns(), std::nullopt});
    filled_ = 0;
    return {std::move(empty.block).fill(info), ended_};
}

Wait RawSource::wait()
{
    if (queue_.empty())
        return {};
    return {fd_.get(), POLLIN, 0, regular_};
}

} // namespace iio_stream::file
