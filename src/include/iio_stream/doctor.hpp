// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/memory.hpp"

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
    std::string mend;   ///< the command that gives the ability; empty where there is none
};

/// What this machine can do; changes nothing.
IIO_STREAM_API std::vector<Check> doctor();

/// How one memory did with a device.
struct ProbeRow {
    Memory memory;
    std::string error; ///< why it could not be tried; else empty
    std::uint64_t blocks = 0;
    double bytes_per_second = 0;
    double cpu_seconds_per_gib = 0;
    std::optional<double> interrupts_per_block; ///< of the device's DMA controller
};

struct ProbeResult {
    std::size_t block_bytes = 0;
    std::vector<ProbeRow> rows;
    Memory recommended;
    std::string reason;
    std::string stored_in; ///< the file that memory=auto reads the verdict from
};

/// Streams a little from an input device into each memory and keeps the verdict for memory=auto.
/// `device` is an "iio:NAME" URI. Throws Error where nothing can be streamed at all.
IIO_STREAM_API ProbeResult probe(const std::string& device);

} // namespace iio_stream
