// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/units.hpp"
#include "iio_stream/uri.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// A board that streams to this host over USB. The program on the board has an ffs: endpoint.
struct UsbBoard {
    UsbId id;           ///< vendor and product IDs
    std::string serial; ///< empty if the board has none or if this user has no permission to open
                        ///< it

    /// Returns the address of the board's endpoint, "usb:1d6b:0104?serial=0", which Reader, Writer
    /// and Session accept as a source or a sink. Does not open the board.
    IIO_STREAM_API Uri endpoint() const;
};

/// Returns the boards that are connected to this host, including those in use by a program. The
/// list is empty in a build without libusb. Throws Error (device) if USB devices cannot be listed.
/// Thread: any.
IIO_STREAM_API std::vector<UsbBoard> usb_boards();

} // namespace iio_stream
