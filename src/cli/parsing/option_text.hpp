// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>
#include <vector>

namespace iio_stream::cli {

/// The syntax of the option: "rate=RATE", "iq=auto|on|off", "attr.…=VALUE".
std::string usage_of(const Option& option);

/// The unit and the default of the option: "S/s; default: 1M".
std::string unit_and_default(const Option& option);

/// The syntax of an endpoint of the scheme: "iio:DEVICE".
std::string address_of(const Scheme& scheme);

/// The sides on which the scheme can be used: "source and sink", "sink only"; or the reason why
/// this build lacks the scheme.
std::string sides_of(const Scheme& scheme);

/// The usual options of endpoints, one per line, and the command that explains the others, for the
/// --help of commands that take any endpoint.
std::string endpoint_options();

/// The help text of a scheme: usage, explained options and an example.
std::string help_of(const Scheme& scheme);

/// Formats options as an mdoc list for the man page.
std::string mdoc_list(const std::vector<Option>& options);

/// All schemes with their options on that side, one per line, for the documentation of GNU Radio
/// Companion's blocks.
std::string yaml_list(OptionSide side);

} // namespace iio_stream::cli
