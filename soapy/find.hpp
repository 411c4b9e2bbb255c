// SPDX-License-Identifier: MIT
#pragma once

#include <SoapySDR/Types.hpp>
#include <string>
#include <vector>

namespace iio_stream::soapy {

/// SoapySDR's FindFunction: the radios that have these arguments, or the endpoints that "uri" and
/// "tx" name. What goes wrong is logged.
SoapySDR::KwargsList find_radios(const SoapySDR::Kwargs& args) noexcept;

/// The IIO devices of a libiio context as radios: a source ("uri") and a sink ("tx") behind one
/// front end are one.
std::vector<SoapySDR::Kwargs> radios(const std::string& context);

} // namespace iio_stream::soapy
