// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::detail {

/// The library's own endpoints; the one list of rooms, in src/builtin.cpp.
std::vector<Scheme> builtin_schemes();

/// Make the endpoint of a URI; every option of it must have been understood.
std::unique_ptr<Source> make_source(Uri& uri);
std::unique_ptr<Sink> make_sink(Uri& uri);

} // namespace iio_stream::detail
