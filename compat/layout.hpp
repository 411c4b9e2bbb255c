// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <iio.h>
#include <string>
#include <vector>

namespace iio_stream::compat {

/// The enabled channels of a device, and how their values lie in a sample.
struct Layout {
    const iio_device* device;
    bool output = false;
    std::vector<const iio_channel*> channels; ///< by scan index
    std::string ids;                          ///< of the channels, as channels= takes them
    Format format;

    /// Throws Error for a scan type that our engine does not know.
    explicit Layout(const iio_device* device);

    /// Bytes from the start of a sample; -1 for a channel that is not enabled.
    std::ptrdiff_t offset_of(const iio_channel* channel) const noexcept;
    /// The device, with these channels and the program's choice of a path.
    Uri endpoint() const;
    /// Bytes of the fewest buffers of so many whose length the device's DMA takes: mostly of one.
    std::size_t whole_bytes(std::size_t buffer_bytes) const;
    /// The same of as many as 10 ms of samples hold.
    std::size_t gathered_bytes(std::size_t buffer_bytes) const;
};

} // namespace iio_stream::compat
