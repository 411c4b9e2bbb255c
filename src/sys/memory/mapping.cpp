// SPDX-License-Identifier: MIT
#include "sys/memory/mapping.hpp"

#include "sys/fail.hpp"

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace iio_stream::sys {

namespace {

// Reserves an address range of `bytes`, aligned to `align`, to map over. Returns nullptr if `align`
// is 0, which means that any address will do, or if the reservation fails.
void* reserve(std::size_t bytes, std::size_t align)
{
    if (align == 0)
        return nullptr;
    void* const all = ::mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return nullptr;
    std::byte* const begin = static_cast<std::byte*>(all);
    const std::size_t before = (align - reinterpret_cast<std::uintptr_t>(begin) % align) % align;
    if (before != 0)
        ::munmap(begin, before);
    if (before != align)
        ::munmap(begin + before + bytes, align - before);
    return begin + before;
}

} // namespace

Mapping Mapping::of_file(int fd, std::size_t bytes, std::size_t offset, Access access,
                         const char* object, std::size_t align)
{
    const int prot = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    void* const place = reserve(bytes, align);
    // MAP_POPULATE avoids page faults during a stream, which would cause dropouts.
    const int flags = MAP_SHARED | MAP_POPULATE | (place != nullptr ? MAP_FIXED : 0);
    void* data = ::mmap(place, bytes, prot, flags, fd, static_cast<off_t>(offset));
    if (data == MAP_FAILED) {
        const int error = errno;
        if (place != nullptr)
            ::munmap(place, bytes);
        fail(error, "mmap", object + (" of " + std::to_string(bytes) + " bytes"));
    }
    return {static_cast<std::byte*>(data), bytes};
}

bool Mapping::make_huge() const noexcept
{
    constexpr int kCollapse = 25; // MADV_COLLAPSE: Linux 6.1, newer than Debian 12's libc
    // The kernel maps the huge pages at once, so they need not be faulted in again.
    return ::madvise(data_, bytes_, kCollapse) == 0;
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

Mapping Mapping::of_transparent_pages(std::size_t bytes, std::size_t huge_bytes)
{
    void* const place = reserve(bytes, huge_bytes);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (place != nullptr ? MAP_FIXED : 0);
    void* const data = ::mmap(place, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (data == MAP_FAILED) {
        const int error = errno;
        if (place != nullptr)
            ::munmap(place, bytes);
        fail(error, "mmap", std::to_string(bytes) + " bytes of plain pages");
    }
    // The advice comes before the first access, so that each fault takes a huge page if one is
    // available.
    (void)::madvise(data, bytes, MADV_HUGEPAGE);
    auto* const pages = static_cast<volatile std::byte*>(data);
    for (std::size_t at = 0; at < bytes; at += 4096)
        pages[at] = std::byte{0};
    return {static_cast<std::byte*>(data), bytes};
}

Mapping Mapping::reserved(std::size_t bytes)
{
    void* const data =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        fail(errno, "mmap", "an address range of " + std::to_string(bytes) + " bytes");
    return {static_cast<std::byte*>(data), bytes};
}

bool Mapping::replace(std::size_t offset, std::size_t bytes, bool keep) const noexcept
{
    std::byte* const place = data_ + offset;
    if (!keep)
        return ::mmap(place, bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
    void* const copy =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    std::memcpy(copy, place, bytes);
    // mremap() exchanges the pages in one step, so the range is mapped at all times.
    if (::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED)
        return true;
    ::munmap(copy, bytes);
    return false;
}

Mapping::~Mapping()
{
    if (data_ != nullptr)
        ::munmap(data_, bytes_);
}

} // namespace iio_stream::sys
