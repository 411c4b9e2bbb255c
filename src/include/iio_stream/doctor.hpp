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
    std::string detail; ///< the finding
    std::string fix;    ///< the command that adds the capability; empty if there is none
};

/// Returns the capabilities of this machine, as printed by `iio-stream doctor`: block memories,
/// devices and their buffers, direct I/O, USB controllers, permissions. Changes nothing and throws
/// only when out of memory.
///
///     for (const Check& check : doctor())
///         if (check.state == Check::State::lacking)
///             std::cout << check.name << ": " << check.detail << ". Fix with: " << check.fix
///                       << '\n';
IIO_STREAM_API std::vector<Check> doctor();

/// The measurements of one kind of memory with a device.
struct ProbeRow {
    Memory memory;
    std::string error; ///< the reason why it could not be tested; empty if it could
    /// Whether the DMA wrote to the memory's own pages, tested with a mark on each page; nullopt:
    /// not tested.
    std::optional<bool> data_arrived;
    std::uint64_t blocks = 0;                   ///< blocks received
    double bytes_per_second = 0;                ///< data rate while the blocks arrived
    double cpu_seconds_per_gib = 0;             ///< user and system time of this process
    std::optional<double> interrupts_per_block; ///< interrupts of the device's DMA controller
};

/// The result of probe() for a device.
struct ProbeResult {
    std::size_t block_size = 0; ///< size of the tested blocks
    std::vector<ProbeRow> rows; ///< one per kind of memory
    Memory recommended;         ///< memory that memory=auto uses from now on
    std::string reason;         ///< the reason for the recommendation
    std::string stored_in;      ///< file from which memory=auto reads this result
};

/// Streams briefly from an input device into each kind of memory and stores the result for
/// memory=auto. It takes a few seconds, during which the device is busy. `device` is an "iio:NAME"
/// URI. Throws Error if no samples can be streamed at all.
IIO_STREAM_API ProbeResult probe(const std::string& device);

} // namespace iio_stream
