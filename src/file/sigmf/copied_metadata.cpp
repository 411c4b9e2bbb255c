// SPDX-License-Identifier: MIT
#include "file/sigmf/copied_metadata.hpp"

#include "core/loss/losses.hpp"
#include "file/sigmf/metadata_merge.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "file/sigmf/rules.hpp"
#include "iio_stream/utc.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace iio_stream::file {

namespace {

/// Keys of `global` that describe the data file. The copy has another data file.
constexpr std::array kOfDataFile{
    "core:datatype",   "core:version",     "core:num_channels",   "core:sample_rate",
    "core:offset",     "core:dataset",     "core:trailing_bytes", "core:metadata_only",
    "core:extensions", "iio_stream:state", "iio_stream:samples",  "iio_stream:channels"};
/// Keys that identify the data file or the metadata file.
constexpr std::array kOfOriginal{"core:sha512", "core:data_doi", "core:meta_doi"};
template <std::size_t N>
bool is_one_of(const std::string& key, const std::array<const char*, N>& keys)
{
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::uint64_t position_of(const Json& one)
{
    return one["core:sample_start"].get<std::uint64_t>();
}

bool is_of_losses(const Json& annotation)
{
    return annotation.contains("iio_stream:lost_min");
}

/// The place and the size of a loss.
using LossKey = std::array<std::uint64_t, 4>;

LossKey key_of(const Json& annotation)
{
    const auto count = [&](const char* key) {
        const auto at = annotation.find(key);
        return at == annotation.end() || at->is_null() ? kUnknown : at->get<std::uint64_t>();
    };
    return {count("core:sample_start"), count("core:sample_count"), count("iio_stream:lost_min"),
            count("iio_stream:lost_max")};
}

// Keeps the indexes that the recording states: losses of the copy do not change the index of a
// sample in the original stream.
void keep_indexes(Json& captures, const Json& copied)
{
    std::map<std::uint64_t, const Json*> indexed;
    for (const Json& capture : copied)
        if (capture.contains("core:global_index"))
            indexed[position_of(capture)] = &capture;
    for (Json& capture : captures)
        if (const auto same = indexed.find(position_of(capture)); same != indexed.end())
            capture["core:global_index"] = (*same->second)["core:global_index"];
}

} // namespace

/// Maps positions in a stream to places in a file and back. The file may have zeros in place of
/// lost samples, and may lack samples for which the sink had no room.
class FilePlaces {
public:
    FilePlaces(const StreamRange& range, std::vector<Loss> losses) : pieces_{{range.begin, 0}}
    {
        std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
            return a.gap.offset_min < b.gap.offset_min;
        });
        for (const Loss& loss : losses) {
            if (loss.kind == Loss::Kind::gap)
                continue;
            const Piece& last = pieces_.back();
            Piece next{last.position + (loss.gap.offset_min - last.offset), loss.gap.offset_min};
            if (loss.kind == Loss::Kind::filled)
                next.offset = loss.gap.offset_max;
            else
                next.position += loss.gap.lost_min;
            pieces_.push_back(next);
        }
    }

    /// The place of the sample at `position`, or of the next sample that is in the file.
    std::uint64_t offset_of(std::uint64_t position) const noexcept
    {
        const auto next = after(position, &Piece::position);
        const Piece& piece = *std::prev(next);
        const std::uint64_t offset = piece.offset + (position - piece.position);
        return next == pieces_.end() ? offset : std::min(offset, next->offset);
    }
    std::uint64_t position_at(std::uint64_t offset) const noexcept
    {
        const auto next = after(offset, &Piece::offset);
        const Piece& piece = *std::prev(next);
        const std::uint64_t position = piece.position + (offset - piece.offset);
        return next == pieces_.end() ? position : std::min(position, next->position);
    }

private:
    /// The start of a run of samples that is contiguous both in the stream and in the file.
    struct Piece {
        std::uint64_t position, offset;
    };
    std::vector<Piece>::const_iterator after(std::uint64_t value,
                                             std::uint64_t Piece::*place) const noexcept
    {
        const auto found = std::upper_bound(
            pieces_.begin(), pieces_.end(), value,
            [&](std::uint64_t wanted, const Piece& piece) { return wanted < piece.*place; });
        return found == pieces_.begin() ? std::next(found) : found;
    }

    std::vector<Piece> pieces_;
};

std::shared_ptr<const CopiedMetadata> CopiedMetadata::from(const StreamInfo& stream)
{
    return stream.metadata ? std::make_shared<CopiedMetadata>(*stream.metadata) : nullptr;
}

CopiedMetadata::CopiedMetadata(const std::string& text) : metadata_(Json::parse(text))
{
    const Contents contents = contents_of(metadata_, Format()); // the stream states the format
    ours_ = contents.state.has_value();
    first_index_ = contents.first_index;
    first_exact_ = contents.first_exact;
    keep_indexes_rising(contents.gaps);
    timeline_ = Timeline(metadata_);
}

// An index that steps back is not valid, and the indexes after it depend on it. Instead of these
// indexes, the copy gets sample numbers that also count the samples that the original lost.
void CopiedMetadata::keep_indexes_rising(std::vector<Gap> gaps)
{
    std::ranges::sort(gaps, {}, &Gap::offset_max);
    auto gap = gaps.cbegin();
    std::uint64_t index = 0, start = 0, lost = 0;
    for (Json& capture : metadata_["captures"]) {
        const std::uint64_t position = position_of(capture);
        const std::uint64_t follows = index + (position - start);
        index = capture.value("core:global_index", follows);
        start = position;
        for (; gap != gaps.cend() && gap->offset_max <= position; ++gap)
            lost = detail::add_least(lost, gap->lost_min);
        if (index < follows && !stepped_back_)
            stepped_back_ = position;
        if (!stepped_back_)
            continue;
        const std::uint64_t number = detail::add_least(first_index_ + position, lost);
        if (number <= kMostCount)
            capture["core:global_index"] = number;
        else
            capture.erase("core:global_index"); // the index continues from the previous capture
    }
}

void CopiedMetadata::add_global(Json& metadata) const
{
    Json& global = metadata["global"];
    const bool has_host = global.contains("iio_stream:hostname"); // hostname=on
    for (const auto& [key, value] : metadata_["global"].items())
        if (!is_one_of(key, kOfDataFile) && !is_one_of(key, kOfOriginal) &&
            !(has_host && key == "iio_stream:hostname"))
            global[key] = value;
    for (const Json& extension : metadata_["global"].value("core:extensions", Json::array())) {
        const auto same = [&](const Json& one) { return one["name"] == extension["name"]; };
        Json& all = global["core:extensions"];
        if (std::none_of(all.begin(), all.end(), same))
            all.push_back(extension);
    }
}

// The values that hold at a position. The caller sets the index and the place in the file.
Json CopiedMetadata::capture_at(std::uint64_t position) const
{
    Json found = Json::object();
    std::uint64_t begin = 0;
    for (const Json& capture : metadata_["captures"]) {
        if (position_of(capture) > position)
            break;
        found = capture;
        begin = position_of(capture);
    }
    if (begin != position) {
        found.erase("core:datetime");
        if (const auto utc_ns = timeline_.utc_ns_of(position))
            found["core:datetime"] = format_utc(*utc_ns);
    }
    for (const char* key : {"core:global_index", "core:header_bytes", "iio_stream:index_exact"})
        found.erase(key);
    return found;
}

// The values before the loss hold for zeros in place of lost samples.
Json CopiedMetadata::capture_of_zeros(std::uint64_t index, std::uint64_t position) const
{
    Json found = capture_at(position == 0 ? 0 : position - 1);
    found.erase("core:datetime");
    if (const auto utc_ns = timeline_.utc_ns_of_lost(index, position))
        found["core:datetime"] = format_utc(*utc_ns);
    return found;
}

Json CopiedMetadata::first_capture(std::uint64_t position,
                                   std::optional<std::uint64_t> zeros_from) const
{
    return zeros_from ? capture_of_zeros(*zeros_from, position) : capture_at(position);
}

void CopiedMetadata::set_first_capture(Json& metadata, std::uint64_t position,
                                       std::optional<std::uint64_t> zeros_from) const
{
    Json capture{{"core:sample_start", 0}};
    const Json copied = first_capture(position, zeros_from);
    for (const auto& [key, value] : copied.items())
        if (key != "core:sample_start")
            capture[key] = value;
    metadata["captures"][0] = capture;
}

Json CopiedMetadata::captures_in(const StreamRange& range, const FilePlaces& places,
                                 std::optional<std::uint64_t> zeros_from) const
{
    Json made = Json::array({first_capture(range.begin, zeros_from)});
    made[0]["core:sample_start"] = 0;
    for (const Json& capture : metadata_["captures"]) {
        const std::uint64_t position = position_of(capture);
        const bool is_first = position == range.begin && !zeros_from; // made above
        if (position < range.begin || is_first || position >= range.end)
            continue;
        const std::uint64_t offset = places.offset_of(position);
        Json one = capture_at(position);
        one["core:sample_start"] = offset;
        if (capture.contains("core:global_index") || timeline_.index_of(position) != offset)
            one["core:global_index"] = timeline_.index_of(position);
        if (capture.contains("iio_stream:index_exact"))
            one["iio_stream:index_exact"] = capture["iio_stream:index_exact"];
        if (made.back()["core:sample_start"] == offset) // everything between them was dropped
            made.back() = one;
        else
            made.push_back(one);
    }
    return made;
}

std::uint64_t CopiedMetadata::end_of_capture(std::uint64_t position) const
{
    for (const Json& capture : metadata_["captures"])
        if (position_of(capture) > position)
            return position_of(capture);
    return kUnknown;
}

Json CopiedMetadata::annotations_in(const StreamRange& range, const FilePlaces& places,
                                    std::uint64_t samples, bool is_last) const
{
    Json made = Json::array();
    for (const Json& annotation : metadata_["annotations"]) {
        const std::uint64_t begin = position_of(annotation);
        const bool counted = annotation.contains("core:sample_count");
        const std::uint64_t count = annotation.value("core:sample_count", std::uint64_t{0});
        const std::uint64_t end = counted ? begin + count : end_of_capture(begin);
        const bool is_empty = counted && count == 0;
        const bool is_inside = begin < range.end && (end > range.begin || begin >= range.begin);
        const bool is_at_end = is_last && is_empty && begin == range.end;
        if (!is_inside && !is_at_end)
            continue;
        Json one = annotation;
        // An annotation that begins before the file also covers zeros at the start of the file. One
        // that continues after the file also covers zeros at the end.
        const std::uint64_t first = begin < range.begin ? 0 : places.offset_of(begin);
        one["core:sample_start"] = first;
        if (counted) {
            const std::uint64_t last = is_empty          ? first
                                       : end > range.end ? samples
                                                         : places.offset_of(end - 1) + 1;
            const std::uint64_t kept = last - std::min(first, last);
            one["core:sample_count"] = kept;
            if (const auto filled = one.find("iio_stream:filled"); filled != one.end())
                *filled = std::min(filled->get<std::uint64_t>(), kept);
        }
        made.push_back(one);
    }
    return made;
}

void CopiedMetadata::write_outcome(Json& metadata, const Outcome& outcome, const StreamRange& range,
                                   bool is_last) const
{
    const FilePlaces places(range, outcome.losses);
    std::optional<std::uint64_t> zeros_from;
    if (places.offset_of(range.begin) != 0)
        zeros_from = outcome.first_index;
    Json written = metadata;
    written["captures"] = Json::array({{{"core:sample_start", 0}}});
    file::write_outcome(written, outcome);
    for (Json& capture : written["captures"]) { // the captures of losses
        const std::uint64_t offset = position_of(capture);
        const auto utc_ns = offset == 0 && zeros_from
                                ? timeline_.utc_ns_of_lost(*zeros_from, range.begin)
                                : timeline_.utc_ns_of(places.position_at(offset));
        if (utc_ns)
            capture["core:datetime"] = format_utc(*utc_ns);
    }
    metadata["global"] = written["global"];
    const Json copied = captures_in(range, places, zeros_from);
    metadata["captures"] = merged_captures(copied, written["captures"], outcome.samples);
    keep_indexes(metadata["captures"], copied);
    // The blocks report the losses of a recording that iio-stream made. An annotation of the same
    // loss keeps the keys that the user may have added.
    Json kept = Json::array();
    std::map<LossKey, Json> losses;
    for (Json& one : annotations_in(range, places, outcome.samples, is_last))
        if (ours_ && is_of_losses(one))
            losses.emplace(key_of(one), one);
        else
            kept.push_back(one);
    for (Json& one : written["annotations"])
        if (is_of_losses(one))
            if (const auto same = losses.find(key_of(one)); same != losses.end())
                one = same->second;
    metadata["annotations"] = merged_annotations(kept, written["annotations"], outcome.samples);
}

std::vector<std::string> CopiedMetadata::not_kept(bool hashed) const
{
    std::vector<std::string> lacking;
    const Json& global = metadata_["global"];
    for (const char* key : kOfOriginal)
        if (global.contains(key) && !(hashed && key == std::string("core:sha512")))
            lacking.emplace_back(key);
    if (stepped_back_)
        lacking.emplace_back("core:global_index from sample " + std::to_string(*stepped_back_) +
                             " on, where it steps back");
    const Json& captures = metadata_["captures"];
    if (std::any_of(captures.begin(), captures.end(), [](const Json& capture) {
            return capture.value("core:header_bytes", std::uint64_t{0}) != 0;
        }))
        lacking.emplace_back("core:header_bytes and the headers");
    if (global.value("core:trailing_bytes", std::uint64_t{0}) != 0)
        lacking.emplace_back("core:trailing_bytes and those bytes");
    return lacking;
}

} // namespace iio_stream::file
