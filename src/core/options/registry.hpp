// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::detail {

/// The library's own endpoints. The only list of them is in src/builtin.cpp.
std::vector<Scheme> builtin_schemes();

/// Whether endpoints of this scheme take a common option themselves. Throws a usage Error for an
/// unknown scheme.
bool has_own_option(const std::string& scheme, const Option& option);

/// Creates the endpoint of a URI. Throws a usage Error if the URI has an option that the endpoint
/// does not have.
std::unique_ptr<Source> make_source(Uri& uri);
std::unique_ptr<Sink> make_sink(Uri& uri);

} // namespace iio_stream::detail
