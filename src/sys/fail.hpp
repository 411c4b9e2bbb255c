// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"

#include <string>

namespace iio_stream::sys {

/// Throws iio_stream::Error made of an errno, the operation that failed and the object it was for.
[[noreturn]] void fail(int error, const char* operation, std::string object);

/// The same with the way out.
[[noreturn]] void fail(int error, const char* operation, std::string object, std::string hint);

} // namespace iio_stream::sys
