// SPDX-License-Identifier: MIT
#include "file/journal/file_retuning.hpp"

#include "core/loss/retunings.hpp"

#include <algorithm>

namespace iio_stream::file {

Settings common(const Settings& a, const Settings& b)
{
    const auto both = [](const std::optional<double>& x, const std::optional<double>& y) {
        return x == y ? x : std::nullopt;
    };
    return {both(a.frequency, b.frequency), both(a.gain, b.gain), both(a.bandwidth, b.bandwidth),
            both(a.rate, b.rate)};
}

void Tunings::add(std::uint64_t begin, std::uint64_t end, const Settings& settings, bool several)
{
    changed = true;
    if (end == 0) {
        later.clear();
        first = settings;
        return;
    }
    Retuned next{begin, end, settings, several ? Settings{} : common(last(), settings)};
    // If a retuning begins before the previous one has ended, no sample is certain to have the
    // settings of the previous one: merge the two.
    while (!later.empty() &&
           (next.begin < later.back().end || later.size() == detail::kMostRetunings)) {
        const Retuned& before = later.back();
        next.begin = std::min(next.begin, before.begin);
        next.end = std::max(next.end, before.end);
        next.between = common(next.between, before.between);
        later.pop_back();
    }
    later.push_back(next);
}

} // namespace iio_stream::file
