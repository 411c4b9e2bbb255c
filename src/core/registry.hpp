// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::detail {

/// The library's own endpoints; the only list of them, in src/builtin.cpp.
std::vector<Scheme> builtin_schemes();

/// Create the endpoint of a URI, which must understand all of its options.
std::unique_ptr<Source> make_source(Uri& uri);
std::unique_ptr<Sink> make_sink(Uri& uri);

} // namespace iio_stream::detail
