// SPDX-License-Identifier: MIT
#include "file/sigmf/tuning_log.hpp"

#include <algorithm>
#include <utility>

namespace iio_stream::file {

void TuningLog::begin(const Settings& first)
{
    heard_ = {};
    tunings_ = {};
    tunings_.first = first;
    tunings_.later.reserve(detail::kMostRetunings);
    pieces_.clear();
    pieces_.reserve(kMostPieces);
    forgotten_ = false;
    end_ = 0;
}

// Retunings after the seam belong to this file, one across it to both.
void TuningLog::follow(TuningLog& before, std::uint64_t samples)
{
    heard_ = before.heard_;
    end_ = before.end_;
    Tunings& told = before.tunings_;
    tunings_.first = told.first;
    tunings_.changed = told.changed;
    std::erase_if(told.later, [&](Retuned& retuned) {
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
    const auto news = heard_.news(filled);
    if (news)
        add(*news);
    return news.has_value();
}

void TuningLog::tell_all() const
{
    listener_({0, 0, tunings_.first, {}});
    for (const Retuned& retuned : tunings_.later)
        listener_(retuned);
}

void TuningLog::retuned(const Retuning& last)
{
    if (const auto news = heard_.news(last))
        add(*news);
}

bool TuningLog::tell_late(const detail::RetuningNews& news)
{
    if (news.retuning.begin >= end_)
        return false;
    add(news);
    return true;
}

void TuningLog::add(const detail::RetuningNews& news)
{
    const Retuning& r = news.retuning;
    const std::uint64_t first = pieces_.empty() || !forgotten_ ? 0 : pieces_.front().offset;
    const std::uint64_t end = offset_of(r.end, first);
    tunings_.add(std::min(offset_of(r.begin, 0), end), end, r.settings, news.several);
    if (!listener_)
        return;
    listener_(tunings_.later.empty() ? Retuned{0, 0, tunings_.first, {}} : tunings_.later.back());
}

// `before`: the result for a position before everything known.
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

std::uint64_t TuningLog::vouched() const
{
    return offset_of(heard_.vouched(), 0);
}

} // namespace iio_stream::file
