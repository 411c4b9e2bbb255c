// SPDX-License-Identifier: MIT
// The buffers under test, and the ways in which samples can reach them.
#pragma once

#include "iio/context/context.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/endpoint.hpp"

#include <string>
#include <utility>
#include <vector>

namespace iio_stream::conformance {

/// A path and a memory, as in the options path= and memory= of iio:.
struct Way {
    std::string path;   ///< "dmabuf", "mmap", "fileio"
    std::string memory; ///< "heap:system"; empty: the path has its own
    std::string text() const { return memory.empty() ? path : path + " " + memory; }
};

/// One buffer of a local device.
struct Subject {
    iio::Device device;
    DeviceInfo info;
    BufferInfo buffer;
    std::string blocked;   ///< why it must not be streamed: "in use, not probed"; "" if it can be
    std::vector<Way> ways; ///< ways that can be tried
    std::vector<std::pair<std::string, std::string>>
        unusable;     ///< paths or ways that cannot be tried, and the reasons
    bool dma = false; ///< false: the buffer is the kernel's software FIFO

    std::string name() const { return device.name().empty() ? device.id() : device.name(); }
    std::string folder() const { return "/sys/bus/iio/devices/" + device.id(); }
    std::string debug_folder() const { return "/sys/kernel/debug/iio/" + device.id(); }
    double rate() const noexcept { return info.sample_rate; } ///< samples per second; 0 = unknown
    std::size_t sample_bytes() const;                         ///< with all channels
    /// The endpoint of that way, with all channels.
    Uri uri(const Way& way) const;
    /// The best way of each path.
    std::vector<Way> one_way_per_path() const;
};

/// The reason why a device must not be used, such as another program that streams from it; empty if
/// it is free. Reads buffer/enable before it opens the device.
std::string use_of(const iio::Device& device, int buffer);

/// Sets `blocked`, `ways`, `unusable` and `dma`.
void find_ways(Subject& subject);

} // namespace iio_stream::conformance
