// SPDX-License-Identifier: MIT
// Replaces the other files of this folder in a build with WITH_USB=OFF.
#include "iio_stream/usb.hpp"
#include "usb/usb.hpp"

namespace iio_stream::usb {

Scheme usb_scheme()
{
    Scheme none{"usb", {}, {}, "[VID:PID]", "A board on the cable"};
    none.missing = {"built without libusb",
                    "build with -DWITH_USB=ON, with libusb-1.0-0-dev installed"};
    return none;
}

} // namespace iio_stream::usb

namespace iio_stream {

std::vector<UsbBoard> usb_boards()
{
    return {};
}
Uri UsbBoard::endpoint() const
{
    return {};
}

} // namespace iio_stream
