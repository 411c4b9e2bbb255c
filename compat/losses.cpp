// SPDX-License-Identifier: MIT
#include "losses.hpp"

#include "settings.hpp"
#include <iio_stream/units.hpp>

#include <cstdio>
#include <mutex>
#include <set>

namespace iio_stream::compat {

void Losses::begin(const std::vector<Hop>& route)
{
    static std::mutex mutex;
    static auto* const told =
        new std::set<std::string>; // never destroyed: programs call libiio from atexit(), too
    const std::lock_guard lock(mutex);
    for (const Hop& hop : route)
        if (!hop.warning.empty() && !Settings::get().quiet)
            std::fprintf(stderr, "iio-stream: %s: warning: %s\n", device_.c_str(),
                         hop.warning.c_str());
    if (Settings::get().quiet || !Settings::get().path.empty() || !told->insert(device_).second)
        return;
    for (const Hop& hop : route)
        if (hop.mechanism == "fileio" && !hop.reason.empty())
            std::fprintf(stderr, "iio-stream: %s: %s, %u cop%s: %s\n", device_.c_str(),
                         hop.mechanism.c_str(), hop.copies, hop.copies == 1 ? "y" : "ies",
                         hop.reason.c_str());
}

void Losses::report(const Stats& stats)
{
    next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const std::uint64_t underflows = stats.underflows();
    const bool more = stats.gaps.certain != told_.certain ||
                      stats.gaps.possible != told_.possible ||
                      stats.gaps.lost_min != told_.lost_min;
    if (!Settings::get().quiet && more)
        std::fprintf(stderr, "iio-stream: %s: %llu gap%s, %llu possible; %s samples lost so far\n",
                     device_.c_str(), static_cast<unsigned long long>(stats.gaps.certain),
                     stats.gaps.certain == 1 ? "" : "s",
                     static_cast<unsigned long long>(stats.gaps.possible),
                     format_bounds(stats.gaps.lost_min, stats.gaps.lost_max).c_str());
    if (!Settings::get().quiet && underflows != underflows_told_)
        std::fprintf(stderr, "iio-stream: %s: %llu underflows so far\n", device_.c_str(),
                     static_cast<unsigned long long>(underflows));
    told_ = stats.gaps;
    underflows_told_ = underflows;
    metrics_.update(stats);
}

} // namespace iio_stream::compat
