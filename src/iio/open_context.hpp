// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Opens a context by libiio's URI: "local:" is this machine, all others ("ip:192.168.2.1", "usb:")
/// need libiio.
ContextPtr open_context(const std::string& uri);

} // namespace iio_stream::iio
