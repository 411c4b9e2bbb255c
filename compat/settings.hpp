// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <iio.h>
#include <string>

namespace iio_stream::compat {

/// The settings of `iio-stream run`, from the environment.
struct Settings {
    bool quiet = false;       ///< IIO_STREAM_QUIET=1
    std::string path;         ///< IIO_STREAM_PATH=dmabuf|mmap|fileio|off; empty: auto
    std::string metrics_file; ///< IIO_STREAM_METRICS_FILE; empty: none

    static const Settings& get();
};

// Settings that the program has made in libiio, which has no getters for them. Thread: any.

void note_timeout(const iio_context* context, unsigned ms);
void note_kernel_buffers(const iio_device* device, unsigned count);
/// Removes the settings of a context that is about to be destroyed. Its address and the addresses
/// of its devices can be reused.
void forget(const iio_context* context);

/// The longest time that a refill or a push waits.
std::chrono::nanoseconds timeout_of(const iio_device* device);
/// The number of blocks that libiio would use for the device.
unsigned kernel_buffers_of(const iio_device* device);

} // namespace iio_stream::compat
