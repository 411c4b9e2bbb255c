// SPDX-License-Identifier: MIT
#include "core/storage.hpp"

#include "core/sizing.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/dmabuf.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace iio_stream::detail {

namespace {

/// A DMABUF, its duplicate for the device, and the fence of its transfer.
constexpr std::size_t kFilesPerBlock = 3;
constexpr std::size_t kOtherFiles = 32; ///< of the endpoints and threads; they open more later

// Dirty cache lines of the zeros the CPU wrote must not overwrite DMA data later: on machines
// without coherent DMA, one START(RW)/END(RW) per buffer before its first ENQUEUE writes them back.
void flush_zeros(int dmabuf)
{
    sys::dmabuf_begin_cpu(dmabuf, sys::CpuAccess::read_write);
    sys::dmabuf_end_cpu(dmabuf, sys::CpuAccess::read_write);
}

} // namespace

Storage::Storage(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use)
    : traits_(traits_of(memory, block_size))
{
    if (memory.kind != MemoryKind::given)
        check_room(count);
    if (memory.kind != MemoryKind::pages)
        check_open_files(count);
    switch (memory.kind) {
    case MemoryKind::heap:
        from_heap(count, use);
        break;
    case MemoryKind::udmabuf:
        from_udmabuf(count, use);
        break;
    case MemoryKind::pages:
        from_pages(count);
        break;
    case MemoryKind::given:
        from_given(count, use);
        break;
    }
}

std::size_t Storage::stride() const noexcept
{
    return round_up(traits_.block_size, kPage);
}

// A memfd or a heap has no limit of its own: the kernel would kill other processes rather than
// refuse.
void Storage::check_room(std::size_t count) const
{
    const std::size_t wanted = stride() * count, available = sys::available_bytes();
    if (wanted > available)
        throw Error(Fault::other, ENOMEM, "allocate",
                    std::to_string(count) + " blocks of " + format_size(traits_.block_size),
                    "only " + format_size(available) + " of memory is available",
                    "smaller or fewer blocks");
}

// Otherwise whichever call comes last fails: for a block, its copy for a device, or a fence.
void Storage::check_open_files(std::size_t count) const
{
    const std::size_t most = sys::room_for_open_files(kFilesPerBlock * count + kOtherFiles);
    if (most >= kFilesPerBlock * count + kOtherFiles)
        return;
    throw Error(Fault::other, EMFILE, "allocate",
                std::to_string(count) + " blocks of " + format_size(traits_.block_size),
                std::to_string(kFilesPerBlock) + " open files for each are more than the " +
                    std::to_string(most) + " that this process may still have",
                "fewer blocks, or a higher hard limit (ulimit -Hn; LimitNOFILE= of a systemd unit)");
}

void Storage::from_heap(std::size_t count, CpuUse use)
{
    const std::string path = "/dev/dma_heap/" + traits_.memory.heap;
    const sys::UniqueFd heap = sys::open_file(path, O_RDWR);
    dmabufs_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        dmabufs_.push_back(sys::dma_heap_alloc(heap.get(), path, stride()));
    map_each(use);
}

void Storage::from_udmabuf(std::size_t count, CpuUse use)
{
    const sys::UniqueFd device = sys::open_file("/dev/udmabuf", O_RDWR);
    std::size_t bytes = stride() * count;
    if (const std::size_t huge = sys::huge_page_bytes(); huge != 0) {
        memfd_ = sys::sealed_memfd(round_up(bytes, huge), huge);
        if (memfd_.valid()) {
            bytes = round_up(bytes, huge); // a mapping of huge pages ends with a whole one
            traits_.page_bytes = huge;
        }
    }
    if (!memfd_.valid())
        take_small_pages(bytes, use);
    else if (use != CpuUse::none)
        whole_ = sys::Mapping::of_file(memfd_.get(), bytes, 0, sys::Access::read_write, "memfd");
    dmabufs_.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        dmabufs_.push_back(
            sys::udmabuf_create(device.get(), memfd_.get(), i * stride(), stride()));
    if (use == CpuUse::none)
        return;
    for (const sys::UniqueFd& dmabuf : dmabufs_)
        flush_zeros(dmabuf.get());
}

// No huge pages are reserved, but the kernel may be able to form some, which makes writing them to
// a disk much cheaper: now, because a udmabuf pins its pages.
void Storage::take_small_pages(std::size_t bytes, CpuUse use)
{
    const std::size_t huge = use == CpuUse::none ? 0 : sys::transparent_huge_page_bytes();
    bytes = round_up(bytes, std::max<std::size_t>(huge, 1));
    memfd_ = sys::sealed_memfd(bytes, 0);
    if (use == CpuUse::none)
        return;
    whole_ = sys::Mapping::of_file(memfd_.get(), bytes, 0, sys::Access::read_write, "memfd", huge);
    if (huge != 0 && whole_.make_huge())
        traits_.page_bytes = huge;
}

void Storage::from_pages(std::size_t count)
{
    const std::size_t bytes = stride() * count;
    if (const std::size_t huge = sys::huge_page_bytes(); huge != 0) {
        whole_ = sys::Mapping::of_pages(round_up(bytes, huge), huge);
        if (whole_.valid())
            traits_.page_bytes = huge;
    }
    if (whole_.valid())
        return;
    const std::size_t huge = sys::transparent_huge_page_bytes();
    if (huge == 0 || bytes < huge) {
        whole_ = sys::Mapping::of_pages(bytes);
        return;
    }
    whole_ = sys::Mapping::of_transparent_pages(round_up(bytes, huge), huge);
    if (whole_.make_huge()) // those that are not yet
        traits_.page_bytes = huge;
}

void Storage::from_given(std::size_t count, CpuUse use)
{
    if (traits_.memory.fds.size() != count)
        fail_usage(std::to_string(traits_.memory.fds.size()) + " DMABUFs were given for " +
                   std::to_string(count) + " blocks");
    dmabufs_.reserve(count);
    for (const int fd : traits_.memory.fds) {
        sys::UniqueFd own = sys::dmabuf_duplicate(fd);
        if (const std::size_t size = sys::dmabuf_size(own.get()); size < traits_.block_size)
            fail_usage("given DMABUF fd " + std::to_string(fd) + " has " + std::to_string(size) +
                       " bytes, less than a block of " + std::to_string(traits_.block_size));
        dmabufs_.push_back(std::move(own));
    }
    map_each(use);
}

void Storage::map_each(CpuUse use)
{
    if (use == CpuUse::none)
        return;
    each_.reserve(dmabufs_.size());
    for (const sys::UniqueFd& dmabuf : dmabufs_) {
        each_.push_back(sys::Mapping::of_file(dmabuf.get(), traits_.block_size, 0,
                                              sys::Access::read_write, "DMABUF"));
        flush_zeros(dmabuf.get());
    }
}

std::span<std::byte> Storage::mapping(std::size_t index) const noexcept
{
    if (whole_.valid())
        return {whole_.data() + index * stride(), traits_.block_size};
    if (!each_.empty())
        return {each_[index].data(), traits_.block_size};
    return {};
}

} // namespace iio_stream::detail
