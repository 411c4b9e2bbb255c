// SPDX-License-Identifier: MIT
#include "file/sigmf/late.hpp"

#include "core/losses.hpp"
#include "sys/files.hpp"
#include "sys/whole_file.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::file {

bool add_late(Outcome& outcome, const Stretch& stretch, std::uint64_t samples, const Gap& gap)
{
    if (gap.offset_min >= stretch.end)
        return false;
    const bool before = gap.offset_max <= stretch.begin;
    if (gap.offset_min < stretch.begin)
        outcome.index_exact = false;
    if (before)
        outcome.first_index = detail::add_least(outcome.first_index, gap.lost_min);
    if (gap.offset_max < stretch.begin)
        return true;
    Loss loss{gap};
    const auto in_file = [&](std::uint64_t position) {
        return std::min(std::clamp(position, stretch.begin, stretch.end) - stretch.begin, samples);
    };
    loss.gap.offset_min = stretch.straight ? in_file(gap.offset_min) : 0;
    loss.gap.offset_max = stretch.straight ? in_file(gap.offset_max) : samples;
    if (gap.offset_min < stretch.begin || gap.offset_max >= stretch.end)
        loss.gap.lost_min = 0; // another file may have it
    add_loss(outcome.losses, loss);
    return true;
}

LateNews::LateNews(std::string path, Outcome outcome, const Stretch& stretch, TuningLog tunings)
    : path_(std::move(path)),
      outcome_(std::move(outcome)),
      stretch_(stretch),
      tunings_(std::move(tunings))
{
    tunings_.listen({}); // the journal is gone
}

// Changes made to the metadata in the meantime stay. A part that was removed stays removed.
void LateNews::tell(const Part::Late& late)
{
    const auto* gap = std::get_if<Gap>(&late);
    const bool ours = gap != nullptr ? add_late(outcome_, stretch_, outcome_.samples, *gap)
                                     : tunings_.tell_late(std::get<detail::RetuningNews>(late));
    outcome_.tunings = tunings_.tunings();
    if (!ours || !sys::path_exists(path_))
        return;
    Json metadata = load_metadata(path_);
    if (metadata["global"]["iio_stream:state"] != "complete")
        return;
    conclude_again(metadata, outcome_);
    sys::publish_file(path_, text_of(metadata), sys::Existing::replaced);
}

} // namespace iio_stream::file
