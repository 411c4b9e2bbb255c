// SPDX-License-Identifier: MIT
#pragma once

#include <SoapySDR/Types.hpp>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// SoapySDR's FindFunction. Returns the radios that match these arguments, or the endpoints that
/// "uri" and "tx" name. Errors are logged.
SoapySDR::KwargsList find_radios(const SoapySDR::Kwargs& args) noexcept;

/// Returns the IIO devices of a libiio context as radios. A source ("uri") and a sink ("tx") behind
/// the same front end form one radio.
std::vector<SoapySDR::Kwargs> radios(const std::string& context);

} // namespace iio_stream::soapy
