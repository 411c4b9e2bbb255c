// SPDX-License-Identifier: MIT
#include "sys/mapping.hpp"

#include "sys/fail.hpp"

#include <bit>
#include <cerrno>
#include <string>
#include <sys/mman.h>

namespace iio_stream::sys {

Mapping Mapping::of_file(int fd, std::size_t bytes, std::size_t offset, Access access,
                         const char* object)
{
    const int prot = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    // MAP_POPULATE: a page fault per 4 KiB in the middle of a stream is a dropout some day.
    void* data = ::mmap(nullptr, bytes, prot, MAP_SHARED | MAP_POPULATE, fd,
                        static_cast<off_t>(offset));
    if (data == MAP_FAILED)
        fail(errno, "mmap", object + (" of " + std::to_string(bytes) + " bytes"));
    return {static_cast<std::byte*>(data), bytes};
}

Mapping Mapping::of_pages(std::size_t bytes, std::size_t huge_bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    if (huge_bytes != 0)
        flags |= MAP_HUGETLB | (std::countr_zero(huge_bytes) << MAP_HUGE_SHIFT);
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (data != MAP_FAILED)
        return {static_cast<std::byte*>(data), bytes};
    if (huge_bytes != 0)
        return {};
    fail(errno, "mmap", std::to_string(bytes) + " bytes of plain pages");
}

Mapping::~Mapping()
{
    if (data_ != nullptr)
        ::munmap(data_, bytes_);
}

} // namespace iio_stream::sys
