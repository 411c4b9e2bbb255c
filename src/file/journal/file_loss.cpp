// SPDX-License-Identifier: MIT
#include "file/journal/file_loss.hpp"

#include "core/loss/losses.hpp"

#include <algorithm>

namespace iio_stream::file {

namespace {

bool are_one_gap(const Loss& a, const Loss& b)
{
    const auto is_at_one_sample = [](const Loss& loss) {
        return loss.kind == Loss::Kind::gap && loss.gap.certain() &&
               loss.gap.offset_min == loss.gap.offset_max;
    };
    return is_at_one_sample(a) && is_at_one_sample(b) && a.gap.offset_min == b.gap.offset_min;
}

} // namespace

void add_loss(std::vector<Loss>& losses, const Loss& loss)
{
    if (!losses.empty() && are_one_gap(losses.back(), loss)) {
        losses.back().gap = detail::merged(losses.back().gap, loss.gap);
        return;
    }
    if (!losses.empty() && losses.back().kind == Loss::Kind::filled &&
        loss.kind == losses.back().kind && losses.back().gap.offset_max == loss.gap.offset_min) {
        losses.back().gap.offset_max = loss.gap.offset_max;
        return;
    }
    if (losses.size() < kMostLosses) {
        losses.push_back(loss);
        return;
    }
    losses.back().gap = detail::merged(losses.back().gap, loss.gap);
    losses.back().kind = Loss::Kind::gap;
    losses.back().utc_ns = 0;
}

bool index_exact_at(std::uint64_t sample, const std::vector<Loss>& losses)
{
    return std::none_of(losses.begin(), losses.end(), [&](const Loss& loss) {
        return !loss.index_exact() && loss.gap.offset_min < sample;
    });
}

} // namespace iio_stream::file
