// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <iio.h>
#include <string>

namespace iio_stream::compat {

/// What `iio-stream run` was told, by its environment.
struct Settings {
    bool quiet = false;       ///< IIO_STREAM_QUIET=1
    std::string path;         ///< IIO_STREAM_PATH=dmabuf|mmap|fileio|off; empty: auto
    std::string metrics_file; ///< IIO_STREAM_METRICS_FILE; empty: none

    static const Settings& get();
};

// What libiio was told by the program and has no getters for. Thread: any.

void note_timeout(const iio_context* context, unsigned ms);
void note_kernel_buffers(const iio_device* device, unsigned count);
/// The context will be destroyed: its address, and its devices', will be another's.
void forget(const iio_context* context);

/// The longest wait of a refill or a push.
std::chrono::nanoseconds timeout_of(const iio_device* device);
/// As many blocks as libiio would have for the device.
unsigned kernel_buffers_of(const iio_device* device);

} // namespace iio_stream::compat
