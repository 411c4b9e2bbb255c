// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/units.hpp"
#include "iio_stream/uri.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// A board that streams to this host over USB: its program has an ffs: endpoint.
struct UsbBoard {
    UsbId id;           ///< vendor and product
    std::string serial; ///< empty if it has none, or if this user may not open it

    /// Where its samples come from, or go to: "usb:1d6b:0104?serial=0". Reader, Writer and Session
    /// take it as a source or a sink. Opens nothing.
    IIO_STREAM_API Uri endpoint() const;
};

/// The boards on the cables of this host, whether or not a program uses them; none in a build
/// without libusb. Throws Error (device) if USB devices cannot be listed. Thread: any.
IIO_STREAM_API std::vector<UsbBoard> usb_boards();

} // namespace iio_stream
