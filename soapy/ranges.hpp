// SPDX-License-Identifier: MIT
#pragma once

#include <SoapySDR/Types.hpp>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// From an attribute's …_available: "[MIN STEP MAX]" is one range, "1 2 4" are three of one value.
/// What is no number is left out.
SoapySDR::RangeList ranges_of(const std::string& available);
/// The shortest text that reads back as the same number.
std::string text_of(double value);
/// From the lowest to the highest of them; `otherwise` if there are none.
SoapySDR::Range whole_range(const SoapySDR::RangeList& ranges, double otherwise);
/// The words of a list, "manual slow_attack"; none of "[MIN STEP MAX]".
std::vector<std::string> words_of(const std::string& available);

} // namespace iio_stream::soapy
