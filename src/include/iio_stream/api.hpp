// SPDX-License-Identifier: MIT
#pragma once

/// Marks what libiio-stream.so exports; everything else in it is hidden.
#define IIO_STREAM_API __attribute__((visibility("default")))

namespace iio_stream {

/// The version, for the build as well: CMakeLists.txt reads it here.
inline constexpr const char* kVersion = "0.1.0";

/// That of the library that the program runs with, "0.1.0"; kVersion is that of the headers.
IIO_STREAM_API const char* version() noexcept;

} // namespace iio_stream
