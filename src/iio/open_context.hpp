// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Opens a context by its libiio URI. "local:" is this machine; every other URI ("ip:192.168.2.1",
/// "usb:") needs libiio.
ContextPtr open_context(const std::string& uri);

} // namespace iio_stream::iio
