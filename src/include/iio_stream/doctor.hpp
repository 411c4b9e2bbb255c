// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// One ability of the machine.
struct Check {
    enum class State { ok, lacking };

    std::string name;
    State state = State::ok;
    std::string detail; ///< what was found
    std::string fix;    ///< the command that gives the ability; empty where there is none
};

/// What this machine can do, as `iio-stream doctor` prints it: block memories, devices and their buffers,
/// direct I/O, USB controllers, permissions. Changes nothing, and throws nothing but for want of memory.
///
///     for (const Check& check : doctor())
///         if (check.state == Check::State::lacking)
///             std::cout << check.name << ": " << check.detail << ". Fix with: " << check.fix << '\n';
IIO_STREAM_API std::vector<Check> doctor();

/// How one memory did with a device.
struct ProbeRow {
    Memory memory;
    std::string error; ///< why it could not be tried; else empty
    /// Whether the DMA wrote the memory's own pages, as each page's mark told; nullopt: not tried.
    std::optional<bool> data_arrived;
    std::uint64_t blocks = 0;       ///< that came
    double bytes_per_second = 0;    ///< while they did
    double cpu_seconds_per_gib = 0; ///< user and system of this process
    std::optional<double> interrupts_per_block; ///< of the device's DMA controller
};

/// What probe() found of a device.
struct ProbeResult {
    std::size_t block_size = 0; ///< bytes of the blocks that were tried
    std::vector<ProbeRow> rows; ///< one for each memory there is
    Memory recommended;         ///< what memory=auto takes from now on
    std::string reason;         ///< why that one
    std::string stored_in; ///< the file that memory=auto reads the verdict from
};

/// Streams a little from an input device into each memory and keeps the verdict for memory=auto; takes some
/// seconds, and nobody else can have the device meanwhile. `device` is an "iio:NAME" URI.
/// Throws Error where nothing can be streamed at all.
IIO_STREAM_API ProbeResult probe(const std::string& device);

} // namespace iio_stream
