// SPDX-License-Identifier: MIT
#include "core/memory/storage.hpp"

#include "core/base/align.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"

#include <cerrno>
#include <utility>

namespace iio_stream::detail {

namespace {

/// A DMABUF and the fence of its transfer.
constexpr std::size_t kFilesPerBlock = 2;
/// Files of the endpoints and threads, including files opened later.
constexpr std::size_t kOtherFiles = 32;

// Dirty cache lines of the zeros that the CPU wrote must not overwrite DMA data later. On machines
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
    const bool given = memory.kind == MemoryKind::given;
    if (!given && memory.kind != MemoryKind::kernel)
        check_room(count);
    if (traits_.attachable)
        check_open_files(count);
    buffers_ = backend_of(memory).make(
        memory,
        {.count = count, .bytes = given ? block_size : stride(), .use = use, .page_bytes = {}});
    dmabufs_ = std::make_shared<const std::vector<sys::UniqueFd>>(std::move(buffers_.dmabufs));
    traits_.page_bytes = buffers_.page_bytes;
    if (use == CpuUse::none)
        return;
    if (!buffers_.whole.valid())
        for (const sys::UniqueFd& dmabuf : *dmabufs_)
            each_.push_back(sys::Mapping::of_file(dmabuf.get(), block_size, 0,
                                                  sys::Access::read_write, "DMABUF"));
    for (const sys::UniqueFd& dmabuf : *dmabufs_)
        flush_zeros(dmabuf.get());
}

std::size_t Storage::stride() const noexcept
{
    return round_up(traits_.block_size, kPage);
}

// A memfd or a heap has no limit of its own. The kernel would kill other processes rather than
// refuse the allocation.
void Storage::check_room(std::size_t count) const
{
    const std::size_t wanted = stride() * count, available = sys::available_bytes();
    if (wanted > available)
        throw Error(Fault::other, ENOMEM, "allocate",
                    std::to_string(count) + " blocks of " + format_size(traits_.block_size),
                    "only " + format_size(available) + " of memory is available",
                    "smaller or fewer blocks");
}

// Without this check, a later call that opens a file would fail: for a block, or for a fence.
void Storage::check_open_files(std::size_t count) const
{
    const std::size_t most = sys::room_for_open_files(kFilesPerBlock * count + kOtherFiles);
    if (most >= kFilesPerBlock * count + kOtherFiles)
        return;
    throw Error(
        Fault::other, EMFILE, "allocate",
        std::to_string(count) + " blocks of " + format_size(traits_.block_size),
        "each needs " + std::to_string(kFilesPerBlock) + " open files, and this process can open " +
            std::to_string(most) + " more",
        "fewer blocks, or a higher hard limit (ulimit -Hn; LimitNOFILE= of a systemd unit)");
}

std::span<std::byte> Storage::mapping(std::size_t index) const noexcept
{
    if (buffers_.whole.valid())
        return {buffers_.whole.data() + index * stride(), traits_.block_size};
    if (!each_.empty())
        return {each_[index].data(), traits_.block_size};
    return {};
}

} // namespace iio_stream::detail
