// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"

#include <string>

namespace iio_stream::sys {

/// Throws an iio_stream::Error with the errno, the operation that failed and its object.
[[noreturn]] void fail(int error, const char* operation, std::string object);

/// The same with a hint on how to fix it.
[[noreturn]] void fail(int error, const char* operation, std::string object, std::string hint);

} // namespace iio_stream::sys
