// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/memory.hpp"
#include "iio_stream/units.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// An attribute of an IIO device, or of one of its channels.
struct AttributeInfo {
    std::string channel; ///< "in_voltage0"; empty for the device's own
    std::string name;
    std::string value;   ///< as read
    std::string error;   ///< why it could not be read; else empty
};

/// One buffer of an IIO device.
struct BufferInfo {
    int index = 0;
    bool output = false;
    std::vector<Channel> channels;
    std::size_t alignment = 1;  ///< of DMA lengths and addresses, bytes
    /// Whether it takes DMABUFs; nullopt where it could not be asked, as another has it open.
    std::optional<bool> dmabuf = false;
    std::string dmabuf_reason;  ///< why not, or why nobody knows
    std::vector<std::string> remarks; ///< scan elements that cannot be understood, and why
    /// What frequency, gain, agc, bandwidth, rate and antenna set, for all its channels: attributes,
    /// "ad9361-phy/in_voltage0/hardwaregain". An option that it has none for is not there.
    std::map<std::string, std::vector<std::string>> tuning;
};

struct DeviceInfo {
    std::string id, name, label; ///< "iio:device0", "cf-ad9361-lpc", ""
    double sample_rate = 0;      ///< samples per second; 0 = unknown
    std::vector<BufferInfo> buffers;
    std::vector<AttributeInfo> attributes;
    std::vector<std::string> remarks; ///< what could not be found out of it, and why
};

/// The IIO devices of a libiio context ("local:", "ip:192.168.2.1" …). None is an empty list where
/// the machine has no IIO at all. Throws Error where the context cannot be opened.
IIO_STREAM_API std::vector<DeviceInfo> devices(const std::string& uri = "local:");

/// One of them, by name, label, id or as an endpoint is written, "iio:NAME"; throws an Error that
/// names the nearest.
IIO_STREAM_API DeviceInfo device(const std::string& name, const std::string& uri = "local:");

/// Attributes by path, "DEVICE[/CHANNEL]/NAME". Setting reads back what the hardware made of it.
IIO_STREAM_API std::string get_attribute(const std::string& path, const std::string& uri = "local:");
IIO_STREAM_API std::string set_attribute(const std::string& path, const std::string& value,
                                         const std::string& uri = "local:");

/// One ability of the machine.
struct Check {
    enum class State { ok, lacking };

    std::string name;
    State state = State::ok;
    std::string detail; ///< what was found
    std::string fix;   ///< the command that gives the ability; empty where there is none
};

/// What this machine can do; changes nothing.
IIO_STREAM_API std::vector<Check> doctor();

/// How one memory did with a device.
struct ProbeRow {
    Memory memory;
    std::string error; ///< why it could not be tried; else empty
    /// Whether the DMA wrote the memory's own pages, as each page's mark told; nullopt: not tried.
    std::optional<bool> data_arrived;
    std::uint64_t blocks = 0;
    double bytes_per_second = 0;
    double cpu_seconds_per_gib = 0;
    std::optional<double> interrupts_per_block; ///< of the device's DMA controller
};

struct ProbeResult {
    std::size_t block_size = 0;
    std::vector<ProbeRow> rows;
    Memory recommended;
    std::string reason;
    std::string stored_in; ///< the file that memory=auto reads the verdict from
};

/// Streams a little from an input device into each memory and keeps the verdict for memory=auto.
/// `device` is an "iio:NAME" URI. Throws Error where nothing can be streamed at all.
IIO_STREAM_API ProbeResult probe(const std::string& device);

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

/// What to measure: each memory with each method, writing a file from it and reading it into it.
struct IoBench {
    std::string file; ///< made, and removed at the end; on the storage that is of interest
    bool overwrite = false;
    std::size_t bytes = 1 << 30;
    std::size_t block_size = 4 << 20;
    std::size_t depth = 4; ///< requests in flight, of the methods that have several
};

/// One cell of that matrix. What was not reached because of `error` is nullopt.
struct IoRow {
    std::string memory, method, direction; ///< "memfd", "io_uring", "write"
    std::size_t page_bytes = 4096;
    std::optional<double> create_seconds, io_seconds, close_seconds;
    std::optional<double> cpu_seconds; ///< user and system of this process, during the I/O
    bool checked = false;              ///< each byte was compared, and was right
    std::optional<Error> error;
};

/// Calls `seen` with each cell as it is done, until all are or it returns false, or `stop` is set.
/// Throws Error where the file cannot be had; a cell that is impossible is a row that says why.
IIO_STREAM_API void bench_io(const IoBench& what, const std::function<bool(const IoRow&)>& seen,
                             const std::atomic<bool>& stop);

} // namespace iio_stream
