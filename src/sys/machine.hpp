// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <cstddef>
#include <string>

namespace iio_stream::sys {

/// The default huge page in bytes if at least one is free; 0 where none can be had.
std::size_t huge_page_bytes();

/// The largest udmabuf in bytes (module parameter size_limit_mb, 64 MiB unless set).
std::size_t udmabuf_limit_bytes();

/// The running kernel's release, "6.12.117+deb12-amd64".
std::string kernel_release();

/// What this process has used so far, all threads.
CpuTime cpu_time();

} // namespace iio_stream::sys
