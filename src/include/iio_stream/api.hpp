// SPDX-License-Identifier: MIT
#pragma once

/// Marks the symbols that libiio-stream.so exports; all other symbols are hidden.
#define IIO_STREAM_API __attribute__((visibility("default")))

namespace iio_stream {

/// The version of these headers. CMakeLists.txt reads the project's version from this line.
inline constexpr const char* kVersion = "0.1.0";

/// Returns the version of the library that the program runs with, "0.1.0". kVersion is the version
/// of the headers that the program was built with.
IIO_STREAM_API const char* version() noexcept;

} // namespace iio_stream
