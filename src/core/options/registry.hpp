// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>
#include <vector>

namespace iio_stream::detail {

/// The library's own endpoints. The only list of them is in src/builtin.cpp.
std::vector<Scheme> builtin_schemes();

/// Whether endpoints of this scheme take a common option themselves. Throws a usage Error for an
/// unknown scheme.
bool has_own_option(const std::string& scheme, const Option& option);

/// Throws a usage Error if the URI has an option that is neither a common one nor in `own`. `kind`
/// names the endpoint for the message, such as "a SigMF recording"; "" if its scheme has one kind
/// of endpoint only. make_source() and make_sink() call this function before they create the
/// endpoint, so that a mistyped option is found before a device is opened. If Scheme::has_kinds,
/// the scheme's factories call it instead.
void require_options(const Uri& uri, const std::vector<Option>& own, OptionSide side,
                     const std::string& kind = "");

/// Creates the endpoint of a URI.
std::unique_ptr<Source> make_source(Uri& uri);
std::unique_ptr<Sink> make_sink(Uri& uri);

} // namespace iio_stream::detail
