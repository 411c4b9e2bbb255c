// SPDX-License-Identifier: MIT
// When the first samples of a file, and those after its losses, were taken.
#include "file/sigmf/losses.hpp"
#include "sys/event.hpp"

#include <utility>

namespace iio_stream::file {

// When the file's first sample was taken, or would have been.
void LossLog::note_begin_utc(const Block& filled)
{
    if (samples_ == 0)
        begin_index_ = filled.sample_index();
    if (outcome_.utc_ns != 0 || !dated_)
        return;
    outcome_.utc_ns = utc_of(filled, 0);
    if (outcome_.utc_ns != 0 && samples_ != 0) // zeros came first
        outcome_.utc_ns -= ns_between(begin_index_, filled.sample_index());
}

// The block with the first sample that is certainly after a loss says when that was taken. It may
// come long after the one that reports the loss, and the time between them has the loss in it.
void LossLog::date_losses(const Block& filled)
{
    const std::uint64_t end = samples_ + filled.bytes() / sample_bytes_;
    std::size_t open = dated_ ? std::exchange(undated_, 0) : 0;
    for (auto loss = outcome_.losses.rbegin(); open > 0 && loss != outcome_.losses.rend(); ++loss) {
        if (loss->kind == Loss::Kind::filled || loss->utc_ns != 0)
            continue;
        --open;
        if (loss->gap.offset_max < end)
            loss->utc_ns =
                utc_of(filled, static_cast<std::int64_t>(loss->gap.offset_max - samples_));
        else
            ++undated_;
    }
}

std::int64_t LossLog::ns_between(std::uint64_t index, std::uint64_t later) const noexcept
{
    const auto samples = static_cast<std::int64_t>(later - index);
    return static_cast<std::int64_t>(1e9 * static_cast<double>(samples) / rate_);
}

// When a sample of a block was taken: counted back from the block's last one.
std::int64_t LossLog::utc_of(const Block& filled, std::int64_t sample) const
{
    const auto samples = static_cast<std::int64_t>(filled.bytes() / sample_bytes_);
    const Time& time = filled.time();
    if (!dated_ || rate_ <= 0 || time.ns == 0)
        return 0;
    if (is_cut(filled) || is_zeros(filled)) { // the block before it says so
        const std::int64_t since =
            ns_between(dated_index_, filled.sample_index() + static_cast<std::uint64_t>(sample));
        return dated_ns_ == 0 ? 0 : dated_ns_ + since;
    }
    const std::int64_t now =
        time.clock == Clock::realtime ? 0 : sys::realtime_ns() - sys::monotonic_ns();
    std::uint64_t lost = 0; // between the two
    for (const Gap& gap : filled.gaps())
        if (const auto at = static_cast<std::int64_t>(gap.offset_max - filled.position());
            at > sample && at < samples)
            lost += gap.lost_min;
    const double before =
        (static_cast<double>(samples - 1 - sample) + static_cast<double>(lost)) / rate_;
    return time.ns + now - static_cast<std::int64_t>(before * 1e9);
}

} // namespace iio_stream::file
