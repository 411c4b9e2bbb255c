// SPDX-License-Identifier: MIT
#include "bench/area.hpp"

#include "core/sizing.hpp"
#include "iio_stream/units.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::bench {

using detail::kPage;

const char* name_of(Kind kind) noexcept
{
    static constexpr const char* kNames[] = {"memfd", "udmabuf+memfd", "udmabuf", "heap:system"};
    return kNames[static_cast<std::size_t>(kind)];
}

Area::Area(Kind kind, std::size_t page_bytes, std::size_t bytes, std::size_t block_size)
    : bytes_(bytes), block_bytes_(block_size)
{
    // Huge pages are reserved already. For the rest, the kernel would rather kill processes than
    // refuse an allocation.
    if (const std::size_t room = sys::available_bytes(); page_bytes == kPage && bytes > room)
        throw Error(Fault::other, ENOMEM, "allocate", format_size(bytes),
                    "only " + format_size(room) + " of memory is available", "a smaller --size");
    const std::size_t count = detail::round_up(bytes, block_size) / block_size;
    blocks_.reserve(count);
    dmabufs_.reserve(count);
    each_.reserve(count);
    blocks_.resize(count);
    if (kind == Kind::heap)
        from_heap();
    else
        from_memfd(kind, page_bytes);
    // As a capture does before the first DMA: leave no dirty cache line of the kernel's zeros.
    if (!dmabufs_.empty())
        for (std::size_t i = 0; i < count; ++i) {
            const Use once(*this, i, sys::CpuAccess::read_write);
        }
}

std::size_t Area::bytes_of(std::size_t index) const noexcept
{
    return std::min(block_bytes_, bytes_ - offset(index));
}

void Area::from_memfd(Kind kind, std::size_t page_bytes)
{
    sys::UniqueFd device;
    if (kind != Kind::memfd)
        device = sys::open_file("/dev/udmabuf", O_RDWR);
    const bool huge = page_bytes != kPage;
    const std::size_t whole = detail::round_up(bytes_, page_bytes);
    memfd_ = sys::sealed_memfd(whole, huge ? page_bytes : 0);
    if (!memfd_.valid())
        sys::fail(ENOMEM, "memfd_create",
                  format_size(whole) + " in pages of " + format_size(page_bytes),
                  "sysctl vm.nr_hugepages=" + std::to_string(whole / page_bytes) +
                      " reserves them");
    if (kind != Kind::memfd)
        for (std::size_t i = 0; i < count(); ++i)
            dmabufs_.push_back(
                sys::udmabuf_create(device.get(), memfd_.get(), offset(i), bytes_of(i)));
    if (kind == Kind::udmabuf) {
        map_each();
        return;
    }
    whole_ = sys::Mapping::of_file(memfd_.get(), whole, 0, sys::Access::read_write, "memfd");
    for (std::size_t i = 0; i < count(); ++i)
        blocks_[i] = {whole_.data() + offset(i), bytes_of(i)};
}

void Area::from_heap()
{
    const std::string path = "/dev/dma_heap/system";
    const sys::UniqueFd heap = sys::open_file(path, O_RDWR);
    for (std::size_t i = 0; i < count(); ++i)
        dmabufs_.push_back(sys::dma_heap_alloc(heap.get(), path, bytes_of(i)));
    map_each();
}

void Area::map_each()
{
    for (std::size_t i = 0; i < count(); ++i) {
        each_.push_back(sys::Mapping::of_file(dmabufs_[i].get(), bytes_of(i), 0,
                                              sys::Access::read_write, "DMABUF"));
        blocks_[i] = {each_[i].data(), bytes_of(i)};
    }
}

Place Area::place(std::size_t index) const noexcept
{
    if (whole_.valid())
        return {memfd_.get(), offset(index)};
    return {dmabufs_[index].get(), 0};
}

void Area::begin(std::size_t index, sys::CpuAccess access) const
{
    if (!dmabufs_.empty())
        sys::dmabuf_begin_cpu(dmabufs_[index].get(), access);
}

void Area::end(std::size_t index, sys::CpuAccess access) const noexcept
{
    if (!dmabufs_.empty())
        sys::dmabuf_end_cpu(dmabufs_[index].get(), access);
}

} // namespace iio_stream::bench
