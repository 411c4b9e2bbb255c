// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// Size of the default huge page in bytes if at least one is free; else 0.
std::size_t huge_page_bytes();
/// Size of transparent huge pages, which the kernel makes from small ones; 0 = it makes none.
std::size_t transparent_huge_page_bytes();

/// Bytes that can be allocated without waking the OOM killer; SIZE_MAX = unknown.
std::size_t available_bytes();

/// The largest udmabuf in bytes (module parameter size_limit_mb, 64 MiB unless set).
std::size_t udmabuf_limit_bytes();

/// The end of the memory that any DMA is assumed to address: 32 bits.
inline constexpr std::uint64_t kDmaReach = std::uint64_t{1} << 32;
/// Whether the kernel bounces every transfer, within the DMA's reach or not (swiotlb=force).
bool bouncing_is_forced();
/// Whether transfers may bounce (swiotlb) because a device cannot address all of this machine's
/// memory: there is memory above 4 GiB, or swiotlb=force.
bool memory_may_bounce();

/// The name of this machine in its network.
std::string host_name();

/// The running kernel's release, "6.12.117+deb12-amd64".
std::string kernel_release();
/// Whether modprobe finds that module of the running kernel.
bool has_kernel_module(const std::string& name);
/// Whether this process is root's, and so sees the open files of others.
bool is_root() noexcept;
/// The processor's architecture as the kernel names it: "x86_64", "aarch64", "armv7l".
std::string machine_type();

/// The command that gives the group plugdev access to converters, block memory and USB boards: the
/// rules of packaging/70-iio-stream.rules.
std::string udev_hint();

/// RLIMIT_MEMLOCK in bytes, RLIMIT_FSIZE in bytes, and RLIMIT_NOFILE; unlimited = the type's
/// maximum.
std::size_t locked_memory_limit();
std::uint64_t file_size_limit();
std::size_t open_files_limit();
/// How many more files this process can open. If these are fewer than `wanted`, raises the soft
/// limit as far as it has to, and the hard one lets it; never needlessly, as select() takes only
/// 1024.
std::size_t room_for_open_files(std::size_t wanted);

/// How often the interrupt of that name has fired, on all CPUs; nullopt if there is none.
std::optional<std::uint64_t> interrupt_count(const std::string& name);

/// The folder for what was measured on this machine (doctor --probe): IIO_STREAM_STATE if set,
/// /var/lib/iio-stream for root, else the user's XDG state folder.
std::string state_dir();

/// CPU time that this process has used so far, all threads.
CpuTime cpu_time();

} // namespace iio_stream::sys
