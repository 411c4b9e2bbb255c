// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/units.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// A USB gadget on this board: what its host sees, and where it lives. The default ids are the
/// Linux Foundation's for test gadgets; a product has its own.
struct GadgetSettings {
    std::string name = "iio-stream"; ///< its name in ConfigFS
    std::string into;                ///< an existing gadget to add only the function to
    std::string udc;                 ///< controller; empty = the first free one
    std::string mount;               ///< mount point of the FunctionFS; empty = /run/iio-stream/ffs
    UsbId id{0x1d6b, 0x0104};
    std::string serial = "0", manufacturer = "iio-stream", description = "iio-stream";
};

/// A USB device controller, and what uses it.
struct ControllerInfo {
    std::string name, state, speed; ///< "dummy_udc.0", "configured", "super-speed"
    std::string holder;             ///< name of the gadget or driver bound to it; empty = free
};

/// A gadget that contains our function.
struct GadgetInfo {
    std::string name, mount;
    std::string udc;      ///< the controller it is meant for, or bound to
    bool bound = false;   ///< true while a program streams
    std::string streamer; ///< "PID NAME" of that program
};

/// Everything gadget_status() finds on this board.
struct GadgetStatus {
    std::vector<ControllerInfo> controllers;
    std::vector<GadgetInfo> gadgets;
};

/// Creates the gadget and mounts its FunctionFS; an ffs: endpoint then binds it to the controller.
/// False if it was already up. On failure throws Error and leaves nothing behind.
IIO_STREAM_API bool gadget_up(const GadgetSettings& settings);
/// Ends any program that streams through it, then removes all that gadget_up() made. False if it
/// was not up.
IIO_STREAM_API bool gadget_down(const std::string& name);
IIO_STREAM_API GadgetStatus gadget_status();

} // namespace iio_stream
