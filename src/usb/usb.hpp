// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

namespace iio_stream::usb {

/// The schemes "ffs:MOUNTPOINT" on the board and "usb:[VID:PID]" on its host. See
/// docs/usb-protocol.md.
Scheme ffs_scheme();
Scheme usb_scheme();

} // namespace iio_stream::usb
