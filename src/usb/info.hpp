// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::usb {

/// What the host learns by GET_INFO.
struct StreamShape {
    Format format;
    std::size_t wire_bytes = 0;
    std::string source, version; ///< the board's
};

std::string info_json(const StreamInfo& stream, std::size_t wire_bytes);
/// Throws Error(EPROTO) for what is no such text, or no format that samples could have.
StreamShape parse_info(const std::string& text);

} // namespace iio_stream::usb
