// SPDX-License-Identifier: MIT
#pragma once

namespace iio_stream {

inline constexpr const char* kVersion = "0.1.0";

} // namespace iio_stream
