// SPDX-License-Identifier: MIT
#pragma once

/// Marks what libiio-stream.so exports; everything else stays hidden.
#define IIO_STREAM_API __attribute__((visibility("default")))

namespace iio_stream {

/// The version of these headers. CMakeLists.txt reads the project's version from this line.
inline constexpr const char* kVersion = "0.1.0";

/// The version of the library the program runs with, "0.1.0"; kVersion is that of the headers it
/// was built with.
IIO_STREAM_API const char* version() noexcept;

} // namespace iio_stream
