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

/// One capability of the machine.
struct Check {
    enum class State { ok, lacking };

    std::string name;
    State state = State::ok;
    std::string detail; ///< what was found
    std::string fix;    ///< the command that adds the capability; empty if there is none
};

/// What this machine can do, as printed by `iio-stream doctor`: block memories, devices and their
/// buffers, direct I/O, USB controllers, permissions. Changes nothing, and throws only when out of
/// memory.
///
///     for (const Check& check : doctor())
///         if (check.state == Check::State::lacking)
///             std::cout << check.name << ": " << check.detail << ". Fix with: " << check.fix <<
///             '\n';
IIO_STREAM_API std::vector<Check> doctor();

/// How one kind of memory performed with a device.
struct ProbeRow {
    Memory memory;
    std::string error; ///< why it could not be tried; empty if it could
    /// Whether the DMA wrote to the memory's own pages, judged by a mark on each page; nullopt: not
    /// tried.
    std::optional<bool> data_arrived;
    std::uint64_t blocks = 0;                   ///< blocks received
    double bytes_per_second = 0;                ///< while they came in
    double cpu_seconds_per_gib = 0;             ///< user and system time of this process
    std::optional<double> interrupts_per_block; ///< interrupts of the device's DMA controller
};

/// What probe() found out about a device.
struct ProbeResult {
    std::size_t block_size = 0; ///< size of the blocks that were tried
    std::vector<ProbeRow> rows; ///< one per kind of memory
    Memory recommended;         ///< what memory=auto uses from now on
    std::string reason;         ///< why that one
    std::string stored_in;      ///< the file memory=auto reads this verdict from
};

/// Streams briefly from an input device into each kind of memory and stores the verdict for
/// memory=auto. Takes some seconds, during which the device is busy. `device` is an "iio:NAME" URI.
/// Throws Error if nothing can be streamed at all.
IIO_STREAM_API ProbeResult probe(const std::string& device);

} // namespace iio_stream
