// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/stats.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::sys {

/// Returns the size of a default huge page in bytes if at least one is free, and 0 otherwise.
std::size_t huge_page_bytes();
/// Returns the size of transparent huge pages, which the kernel assembles from small pages; 0 if
/// they are disabled or not supported.
std::size_t transparent_huge_page_bytes();

/// Returns the bytes that can be allocated without invoking the OOM killer; SIZE_MAX if unknown.
std::size_t available_bytes();

/// Returns the maximum size of a udmabuf in bytes (module parameter size_limit_mb, 64 MiB by
/// default).
std::size_t udmabuf_limit_bytes();

/// The end of the address range that every DMA is assumed to reach: 32 bits.
inline constexpr std::uint64_t kDmaReach = std::uint64_t{1} << 32;
/// Returns whether the kernel bounces every transfer, even within the DMA's reach (swiotlb=force).
bool bouncing_is_forced();
/// Returns whether transfers can be bounced (swiotlb): the machine has memory above 4 GiB, which
/// some devices cannot address, or swiotlb=force is set.
bool memory_may_bounce();

/// Returns the host name of this machine.
std::string host_name();

/// Returns the release of the running kernel, "6.12.117+deb12-amd64".
std::string kernel_release();
/// Returns whether modprobe can find this module for the running kernel.
bool has_kernel_module(const std::string& name);
/// Returns whether this process runs as root and can therefore see the open files of other users.
bool is_root() noexcept;
/// Returns the processor architecture as named by the kernel: "x86_64", "aarch64", "armv7l".
std::string machine_type();

/// Returns the command that gives the group plugdev access to converters, block memory and USB
/// boards. It installs the rules of packaging/70-iio-stream.rules.
std::string udev_hint();

/// Return RLIMIT_MEMLOCK in bytes, RLIMIT_FSIZE in bytes, and RLIMIT_NOFILE. The maximum value of
/// the type means "unlimited".
std::size_t locked_memory_limit();
std::uint64_t file_size_limit();
std::size_t open_files_limit();
/// Returns how many more files this process can open. If this is less than `wanted`, it first
/// raises the soft limit as far as necessary and permitted by the hard limit. It does not raise the
/// limit needlessly, because select() supports only 1024 descriptors.
std::size_t room_for_open_files(std::size_t wanted);

/// Returns how often the interrupt of that name has fired, over all CPUs; nullopt if it does not
/// exist.
std::optional<std::uint64_t> interrupt_count(const std::string& name);

/// Returns the folder for measurements of this machine (doctor --probe): IIO_STREAM_STATE if set,
/// /var/lib/iio-stream for root, and otherwise iio-stream in the user's XDG state folder.
std::string state_dir();

/// Returns the CPU time that all threads of this process have used so far.
CpuTime cpu_time();

} // namespace iio_stream::sys
