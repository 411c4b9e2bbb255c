// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/units.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// A USB gadget on this board: what its host sees, and where. The numbers are the Linux Foundation's
/// for gadgets in test; a product has its own.
struct GadgetSettings {
    std::string name = "iio-stream"; ///< in ConfigFS
    std::string into;  ///< a gadget that exists already, to which only the function is added
    std::string udc;   ///< controller; empty = the first that is free
    std::string mount; ///< of the FunctionFS; empty = /run/iio-stream/ffs
    UsbId id{0x1d6b, 0x0104};
    std::string serial = "0", manufacturer = "iio-stream", description = "iio-stream";
};

/// A device controller, and what holds it.
struct ControllerInfo {
    std::string name, state, speed; ///< "dummy_udc.0", "configured", "super-speed"
    std::string holder;             ///< a gadget's name or its driver's; empty = it is free
};

/// A gadget with our function in it.
struct GadgetInfo {
    std::string name, mount;
    std::string udc;       ///< that it is for, or bound to
    bool bound = false;    ///< it is, while a program streams
    std::string streamer;  ///< "PID NAME"
};

/// All that gadget_status() finds on this board.
struct GadgetStatus {
    std::vector<ControllerInfo> controllers;
    std::vector<GadgetInfo> gadgets;
};

/// Makes the gadget and mounts its FunctionFS, where an ffs: endpoint then binds it to the controller.
/// False where it was up already. Throws, and leaves nothing behind, where something is in the way.
IIO_STREAM_API bool gadget_up(const GadgetSettings& settings);
/// Ends whoever streams through it, then removes all that gadget_up() made. False where it was not up.
IIO_STREAM_API bool gadget_down(const std::string& name);
IIO_STREAM_API GadgetStatus gadget_status();

} // namespace iio_stream
