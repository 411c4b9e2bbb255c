// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::usb {

/// "ffs:MOUNTPOINT", on the board; "usb:[VID:PID]", on its host. docs/usb-protocol.md.
Scheme ffs_scheme();
Scheme usb_scheme();

} // namespace iio_stream::usb
