// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <string>
#include <string_view>

namespace iio_stream {

enum class Lines { one, many }; ///< many: keeps newlines and tabs

/// Text from outside (the name of a file or a device, metadata) for a terminal or a log, which it
/// cannot control: bytes of control characters, and bytes that are not UTF-8, become a backslash,
/// an x and two hexadecimal digits, and so do those of characters that break lines or turn the
/// direction of writing. Errors are printable already. Thread: any.
IIO_STREAM_API std::string printable(std::string_view text, Lines lines = Lines::one);

} // namespace iio_stream
