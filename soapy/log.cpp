// SPDX-License-Identifier: MIT
#include "loss_log.hpp"

#include <SoapySDR/Logger.hpp>
#include <string>

namespace iio_stream::soapy {

namespace {

std::string interval(std::uint64_t least, std::uint64_t most)
{
    if (least == most)
        return std::to_string(least);
    return std::to_string(least) + " to " + (most == kUnknown ? "?" : std::to_string(most));
}

} // namespace

bool log_loss(const Gap& gap)
{
    SoapySDR::logf(gap.certain() ? SOAPY_SDR_WARNING : SOAPY_SDR_INFO, "iiostream: %s samples %s after sample %s (%s)",
                   interval(gap.lost_min, gap.lost_max).c_str(), gap.certain() ? "lost" : "possibly lost",
                   interval(gap.offset_min, gap.offset_max).c_str(), name_of(gap.evidence));
    return gap.certain();
}

} // namespace iio_stream::soapy
