// SPDX-License-Identifier: MIT
#include "file/sigmf/tuning_log.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::file {

void TuningLog::begin(const Settings& first)
{
    retunings_ = {};
    tunings_ = {};
    tunings_.first = first;
    tunings_.later.reserve(detail::kMostRetunings);
    pieces_.clear();
    pieces_.reserve(kMostPieces);
    forgotten_ = false;
    end_ = 0;
}

// Retunings after the seam belong to this file. A retuning across the seam belongs to both files.
void TuningLog::follow(TuningLog& before, std::uint64_t samples)
{
    retunings_ = before.retunings_;
    end_ = before.end_;
    Tunings& earlier = before.tunings_;
    tunings_.first = earlier.first;
    tunings_.changed = earlier.changed;
    std::erase_if(earlier.later, [&](Retuned& retuned) {
        if (retuned.end <= samples) {
            tunings_.first = retuned.settings;
            return false;
        }
        Retuned rest = retuned;
        rest.begin -= std::min(rest.begin, samples);
        rest.end = rest.end == kUnknown ? kUnknown : rest.end - samples;
        tunings_.later.push_back(rest);
        return retuned.begin >= samples;
    });
}

bool TuningLog::note(const Block& filled, std::uint64_t offset, std::size_t sample_bytes)
{
    if (filled.sequence() == kUnknown)
        return false; // zeros
    const std::uint64_t position = filled.position();
    if (pieces_.empty() || position - pieces_.back().position != offset - pieces_.back().offset) {
        if (pieces_.size() == kMostPieces) {
            pieces_.erase(pieces_.begin());
            forgotten_ = true;
        }
        pieces_.push_back({position, offset});
    }
    end_ = position + filled.bytes() / sample_bytes;
    const auto retuning = retunings_.add(filled);
    if (retuning)
        add(*retuning);
    return retuning.has_value();
}

void TuningLog::report_all() const
{
    listener_({0, 0, tunings_.first, {}});
    for (const Retuned& retuned : tunings_.later)
        listener_(retuned);
}

void TuningLog::set_last_retuning(const Retuning& last)
{
    if (const auto retuning = retunings_.add(last))
        add(*retuning);
}

bool TuningLog::apply_late_retuning(const detail::NewRetuning& retuning)
{
    if (retuning.retuning.begin >= end_)
        return false;
    add(retuning);
    return true;
}

void TuningLog::add(const detail::NewRetuning& retuning)
{
    const Retuning& r = retuning.retuning;
    const std::uint64_t first = pieces_.empty() || !forgotten_ ? 0 : pieces_.front().offset;
    const std::uint64_t end = offset_of(r.end, first);
    tunings_.add(std::min(offset_of(r.begin, 0), end), end, r.settings, retuning.several);
    if (!listener_)
        return;
    listener_(tunings_.later.empty() ? Retuned{0, 0, tunings_.first, {}} : tunings_.later.back());
}

// `before`: the result for a position before all known pieces.
std::uint64_t TuningLog::offset_of(std::uint64_t position, std::uint64_t before) const
{
    if (position == kUnknown || pieces_.empty() || position < pieces_.front().position)
        return position == kUnknown ? kUnknown : before;
    const auto next = std::upper_bound(
        pieces_.begin(), pieces_.end(), position,
        [](std::uint64_t value, const Piece& piece) { return value < piece.position; });
    const Piece& piece = *std::prev(next);
    const std::uint64_t offset = piece.offset + (position - piece.position);
    return next == pieces_.end() ? offset : std::min(offset, next->offset);
}

std::uint64_t TuningLog::complete_until() const
{
    return offset_of(retunings_.complete_until(), 0);
}

} // namespace iio_stream::file
