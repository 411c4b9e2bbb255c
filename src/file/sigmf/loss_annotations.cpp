// SPDX-License-Identifier: MIT
#include "file/sigmf/loss_annotations.hpp"

#include "core/base/utc.hpp"
#include "iio_stream/api.hpp"

#include <algorithm>

namespace iio_stream::file {

namespace {

std::string count_text(std::uint64_t least, std::uint64_t most)
{
    if (least == most)
        return std::to_string(least) + (least == 1 ? " sample" : " samples");
    if (most == kUnknown)
        return "at least " + std::to_string(least) + " samples";
    return std::to_string(least) + " to " + std::to_string(most) + " samples";
}

std::string place_text(const Gap& gap)
{
    if (gap.offset_min == gap.offset_max)
        return "before sample " + std::to_string(gap.offset_min);
    return "somewhere from before sample " + std::to_string(gap.offset_min) + " to before sample " +
           std::to_string(gap.offset_max);
}

Json annotation_of(const Loss& loss)
{
    const Gap& gap = loss.gap;
    Json a{{"core:sample_start", gap.offset_min},
           {"core:sample_count", gap.offset_max - gap.offset_min}};
    a["core:generator"] = std::string("iio-stream ") + kVersion;
    if (loss.kind == Loss::Kind::filled) {
        a["core:label"] = "zeros";
        a["core:comment"] = "zeros in place of lost samples";
        a["iio_stream:filled"] = gap.offset_max - gap.offset_min;
        return a;
    }
    const bool dropped = loss.kind == Loss::Kind::dropped;
    const char* evidence = dropped ? "dropped" : iio_stream::name_of(gap.evidence);
    a["core:label"] = dropped ? "dropped" : gap.certain() ? "gap" : "possible gap";
    a["core:comment"] = (gap.certain() ? "lost " : "possibly lost ") +
                        count_text(gap.lost_min, gap.lost_max) + ", " + place_text(gap) +
                        "; evidence: " + evidence;
    a["iio_stream:lost_min"] = gap.lost_min;
    a["iio_stream:lost_max"] = gap.lost_max == kUnknown ? Json(nullptr) : Json(gap.lost_max);
    a["iio_stream:evidence"] = evidence;
    return a;
}

// The losses in the file. Of the losses after its last sample, only dropped samples are included.
std::vector<Loss> within(const std::vector<Loss>& losses, std::uint64_t samples)
{
    std::vector<Loss> kept;
    for (Loss loss : losses) {
        const bool last = loss.kind == Loss::Kind::dropped && loss.gap.offset_min == samples;
        if (loss.gap.offset_min >= samples && !last)
            continue;
        loss.gap.offset_max = std::min(loss.gap.offset_max, samples);
        kept.push_back(loss);
    }
    return kept;
}

} // namespace

Json loss_annotations(const Outcome& outcome)
{
    std::vector<Loss> losses = within(outcome.losses, outcome.samples);
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
        return a.gap.offset_min < b.gap.offset_min;
    });
    Json annotations = Json::array();
    for (const Loss& loss : losses)
        annotations.push_back(annotation_of(loss));
    return annotations;
}

// A capture starts at the first sample that is certainly after a loss.
Json captures_after_losses(const Json& first, const Outcome& outcome)
{
    std::vector<Loss> losses = within(outcome.losses, outcome.samples);
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) {
        return a.gap.offset_max < b.gap.offset_max;
    });
    Json plain = first;
    plain.erase("core:datetime");
    Json captures = Json::array({first});
    std::uint64_t lost = 0;
    for (const Loss& loss : losses) {
        const Gap& gap = loss.gap;
        if (loss.kind == Loss::Kind::filled || gap.offset_max >= outcome.samples)
            continue;
        lost += gap.lost_min;
        if (captures.back()["core:sample_start"] != gap.offset_max) {
            captures.push_back(plain);
            captures.back()["core:sample_start"] = gap.offset_max;
            if (loss.utc_ns != 0)
                captures.back()["core:datetime"] = detail::utc_text(loss.utc_ns, kUtcDigits);
        }
        captures.back()["core:global_index"] = outcome.first_index + gap.offset_max + lost;
        if (!outcome.index_exact || !loss.index_exact() || !index_exact_at(gap.offset_max, losses))
            captures.back()["iio_stream:index_exact"] = false;
    }
    return captures;
}

} // namespace iio_stream::file
