// SPDX-License-Identifier: MIT
#include "sys/memory/cache.hpp"

#include <vector>

namespace iio_stream::sys {

#if defined(__x86_64__) || defined(__i386__)

void write_caches_back(std::span<const std::byte>, std::size_t) {} // on x86, DMA is always coherent

#elif defined(__aarch64__)

void write_caches_back(std::span<const std::byte> bytes, std::size_t step)
{
    for (std::size_t at = 0; at < bytes.size(); at += step)
        asm volatile("dc civac, %0" ::"r"(bytes.data() + at)
                     : "memory"); // Linux permits this in
                                  // user space
    asm volatile("dsb sy" ::: "memory");
}

#else

void write_caches_back(std::span<const std::byte>, std::size_t)
{
    // User space has no instruction for this. Reading more data than the caches hold, twice, evicts
    // the lines.
    constexpr std::size_t kBytes = std::size_t{16} << 20, kLine = 32;
    const std::vector<unsigned char> other(kBytes, 1);
    volatile unsigned sum = 0;
    for (int round = 0; round < 2; ++round)
        for (std::size_t at = 0; at < kBytes; at += kLine)
            sum = sum + other[at];
}

#endif

} // namespace iio_stream::sys
