// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// The default huge page in bytes if at least one is free; 0 where none can be had.
std::size_t huge_page_bytes();
/// The size of the huge pages that the kernel makes of small ones, none of them set apart; 0: none.
std::size_t transparent_huge_page_bytes();

/// What can be allocated without anybody's being killed for it; SIZE_MAX where that is not known.
std::size_t available_bytes();

/// The largest udmabuf in bytes (module parameter size_limit_mb, 64 MiB unless set).
std::size_t udmabuf_limit_bytes();

/// Where memory ends that each DMA is taken to address: that of 32 bits.
inline constexpr std::uint64_t kDmaReach = std::uint64_t{1} << 32;
/// Whether the kernel was told to copy each block, within a DMA's reach or not (swiotlb=force).
bool bouncing_is_forced();
/// Whether a device may be unable to address all of this machine's memory, so that the kernel copies
/// what is beyond its reach (swiotlb): there is memory above 4 GiB, or the kernel was told to.
bool memory_may_bounce();

/// The name of this machine in its network.
std::string host_name();

/// The running kernel's release, "6.12.117+deb12-amd64".
std::string kernel_release();

/// The command that gives a user's group what a stream opens, converters, memory and boards on USB:
/// the rules of packaging/70-iio-stream.rules.
std::string udev_hint();

/// RLIMIT_MEMLOCK in bytes, RLIMIT_FSIZE in bytes, and RLIMIT_NOFILE; unlimited is the type's most.
std::size_t locked_memory_limit();
std::uint64_t file_size_limit();
std::size_t open_files_limit();

/// How often the interrupt of that name has come, on all processors; nullopt where there is none.
std::optional<std::uint64_t> interrupt_count(const std::string& name);

/// Where what was found out about this machine is kept: IIO_STREAM_STATE if set, root's
/// /var/lib/iio-stream, else a user's XDG state folder.
std::string state_dir();

/// What this process has used so far, all threads.
CpuTime cpu_time();

} // namespace iio_stream::sys
