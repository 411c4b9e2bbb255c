// SPDX-License-Identifier: MIT
#include "cli/view/frame_reader.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>

namespace iio_stream::cli {

namespace {

constexpr std::size_t kMostLosses = 100'000; // later ones are not drawn

std::size_t column_of(const Format& format, const std::string& channel)
{
    std::vector<std::string> names;
    for (const Channel& one : format.channels)
        names.push_back(one.id);
    if (channel.empty()) {
        const auto at =
            std::find_if(format.channels.begin(), format.channels.end(),
                         [](const Channel& one) { return one.component != Component::counter; });
        return at == format.channels.end() ? 0
                                           : static_cast<std::size_t>(at - format.channels.begin());
    }
    const auto at = std::find(names.begin(), names.end(), channel);
    if (at == names.end())
        fail_usage("--channel " + channel + ": the source has no such channel",
                   suggest(channel, names));
    return static_cast<std::size_t>(at - names.begin());
}

} // namespace

FrameReader::FrameReader(const Format& format, const std::string& channel, std::size_t length)
    : convert_(format, "rf32_le"), width_(format.channels.size()), length_(length)
{
    column_ = column_of(format, channel);
    const auto component = [&](std::size_t at) {
        return at < width_ ? format.channels[at].component : Component::counter;
    };
    const bool second = component(column_) == Component::quadrature && column_ > 0 &&
                        component(column_ - 1) == Component::in_phase;
    const std::size_t first = second ? column_ - 1 : column_;
    is_complex_ =
        component(first) == Component::in_phase && component(first + 1) == Component::quadrature;
    name_ = format.channels[column_].id;
    if (is_complex_) {
        column_ = first;
        name_ = format.channels[first].id + ", " + format.channels[first + 1].id;
    }
    frame_.reserve(length_);
}

void FrameReader::read(const Block& block, std::size_t limit, const EachFrame& each)
{
    const std::size_t count = block.samples();
    values_.resize(count * width_);
    {
        const CpuRead guard(block);
        convert_.convert(guard.bytes(), std::as_writable_bytes(std::span(values_)));
    }
    if (first_ == kUnknown)
        first_ = next_ = block.sample_index();
    std::uint64_t index = block.sample_index();
    std::size_t at = 0;
    std::vector<Gap> gaps(block.gaps().begin(), block.gaps().end());
    std::sort(gaps.begin(), gaps.end(),
              [](const Gap& a, const Gap& b) { return a.offset_min < b.offset_min; });
    const auto run = [&](std::size_t end) {
        read_run(std::span(values_).subspan(at * width_, (end - at) * width_), index, limit, each);
        index += end - at;
        at = end;
    };
    for (const Gap& gap : gaps) {
        // If the whole loss lies before the block, the index of the block includes it.
        const bool before = gap.offset_max <= block.position();
        if (!before)
            run(std::clamp(static_cast<std::size_t>(gap.offset_min -
                                                    std::min(gap.offset_min, block.position())),
                           at, count));
        if (losses_.size() < kMostLosses)
            losses_.push_back(index - (before ? gap.lost_min : 0) - first_);
        if (!before)
            index += gap.lost_min;
    }
    run(count);
}

void FrameReader::read_run(std::span<const float> values, std::uint64_t index, std::size_t& limit,
                           const EachFrame& each)
{
    if (index != next_)
        frame_.clear();
    next_ = index + values.size() / width_;
    for (std::size_t at = 0; at < values.size() && limit != 0; at += width_, ++index) {
        const float* const sample = &values[at + column_];
        frame_.emplace_back(sample[0], is_complex_ ? sample[1] : 0);
        if (frame_.size() < length_)
            continue;
        each(frame_, index + 1 - length_ - first_);
        frame_.clear();
        --limit;
    }
    if (limit == 0)
        frame_.clear();
}

void FrameReader::read_rest(const EachFrame& each)
{
    if (frame_.empty())
        return;
    each(frame_, next_ - frame_.size() - first_);
    frame_.clear();
}

} // namespace iio_stream::cli
