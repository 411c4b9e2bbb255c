// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <iio.h>
#include <string>
#include <vector>

namespace iio_stream::compat {

/// The enabled channels of a device, and the layout of their values in a sample.
struct Layout {
    const iio_device* device;
    bool output = false;
    std::vector<const iio_channel*> channels; ///< by scan index
    std::string ids;                          ///< the channels' ids, for the option channels=
    Format format;

    /// Throws Error for a scan type that the engine does not support.
    explicit Layout(const iio_device* device);

    /// The offset of a channel in a sample, in bytes; -1 for a channel that is not enabled.
    std::ptrdiff_t offset_of(const iio_channel* channel) const noexcept;
    /// The endpoint of the device, with these channels and the path from the settings.
    Uri endpoint() const;
    /// The smallest multiple of `buffer_bytes` whose length the device's DMA accepts, in bytes.
    /// Usually it is `buffer_bytes` itself.
    std::size_t whole_bytes(std::size_t buffer_bytes) const;
    /// The largest multiple of whole_bytes() within 10 ms of samples and 4 MiB; at least one.
    std::size_t gathered_bytes(std::size_t buffer_bytes) const;
};

} // namespace iio_stream::compat
