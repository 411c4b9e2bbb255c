// SPDX-License-Identifier: MIT
#include "log.hpp"

#include "iio_stream/units.hpp"

#include <SoapySDR/Logger.hpp>

namespace iio_stream::soapy {

void log_route(const std::vector<Hop>& route)
{
    for (const Hop& hop : route) {
        if (!hop.warning.empty())
            SoapySDR::logf(SOAPY_SDR_WARNING, "iiostream: %s", hop.warning.c_str());
        SoapySDR::logf(SOAPY_SDR_DEBUG, "iiostream: %s to %s: %s, copies: %u%s%s", hop.from.c_str(),
                       hop.to.c_str(), hop.mechanism.c_str(), hop.copies,
                       hop.reason.empty() ? "" : ", ", hop.reason.c_str());
    }
}

bool log_loss(const Gap& gap)
{
    SoapySDR::logf(gap.certain() ? SOAPY_SDR_WARNING : SOAPY_SDR_INFO,
                   "iiostream: %s samples %s after sample %s (%s)",
                   format_bounds(gap.lost_min, gap.lost_max).c_str(),
                   gap.certain() ? "lost" : "possibly lost",
                   format_bounds(gap.offset_min, gap.offset_max).c_str(), name_of(gap.evidence));
    return gap.certain();
}

} // namespace iio_stream::soapy
