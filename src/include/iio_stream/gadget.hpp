// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/units.hpp"

#include <string>
#include <vector>

namespace iio_stream {

/// The settings of a USB gadget on this board: its identity as the host sees it, and its place in
/// the file system. The default ids are those of the Linux Foundation for test gadgets; a product
/// must use its own.
struct GadgetSettings {
    std::string name = "iio-stream"; ///< name in ConfigFS
    std::string into;                ///< existing gadget to which only the function is added
    std::string udc;                 ///< USB device controller; empty = the first free one
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
    std::string udc;      ///< controller that the gadget is bound to, or configured for
    bool bound = false;   ///< true while a program streams
    std::string streamer; ///< "PID NAME" of that program
};

/// The controllers and gadgets of this board, from gadget_status().
struct GadgetStatus {
    std::vector<ControllerInfo> controllers;
    std::vector<GadgetInfo> gadgets;
};

/// Creates the gadget and mounts its FunctionFS. An ffs: endpoint then binds it to the controller.
/// Returns false if the gadget is already set up. On failure it throws Error and removes everything
/// it has created.
IIO_STREAM_API bool gadget_up(const GadgetSettings& settings);
/// Ends any program that streams through the gadget, and then removes everything that gadget_up()
/// created. Returns false if the gadget is not set up.
IIO_STREAM_API bool gadget_down(const std::string& name);
IIO_STREAM_API GadgetStatus gadget_status();

} // namespace iio_stream
