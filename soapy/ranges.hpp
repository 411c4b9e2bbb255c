// SPDX-License-Identifier: MIT
#pragma once

#include <SoapySDR/Types.hpp>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// Parses an attribute's …_available: "[MIN STEP MAX]" is one range, "1 2 4" are three ranges of
/// one value each. Words that are not numbers are left out.
SoapySDR::RangeList ranges_of(const std::string& available);
/// Returns the shortest text that reads back as the same number.
std::string text_of(double value);
/// Returns the range from the lowest to the highest value; the single value `otherwise` if there
/// are no ranges.
SoapySDR::Range whole_range(const SoapySDR::RangeList& ranges, double otherwise);
/// Returns the words of a list such as "manual slow_attack"; no words for "[MIN STEP MAX]".
std::vector<std::string> words_of(const std::string& available);

} // namespace iio_stream::soapy
