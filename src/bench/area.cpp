// SPDX-License-Identifier: MIT
#include "bench/area.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/machine.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::bench {

using detail::kPage;
constexpr std::size_t kUsualHugePage = 2 << 20; ///< for the row that reports that there are none

std::vector<AreaMemory> area_memories()
{
    const std::size_t found = sys::huge_page_bytes();
    const std::size_t huge = found == 0 ? kUsualHugePage : found;
    std::vector<AreaMemory> all;
    const auto add = [&](const std::string& name, const std::optional<Memory>& memory,
                         bool by_memfd) {
        all.push_back({name, memory, by_memfd, kPage});
        if (!memory || detail::backend_of(*memory).in_memfd)
            all.push_back({name, memory, by_memfd, huge});
    };
    add("memfd", std::nullopt, true);
    const auto backends = detail::memory_backends();
    for (auto at = backends.rbegin(); at != backends.rend(); ++at) {
        const detail::MemoryBackend& backend = *at;
        const std::vector<Memory> choices = detail::choices_of(backend);
        if (!backend.attachable || choices.empty())
            continue;
        const std::string name = choices.front().name();
        if (backend.in_memfd)
            add(name + "+memfd", choices.front(), true);
        add(name, choices.front(), false);
    }
    return all;
}

Area::Area(const AreaMemory& memory, std::size_t bytes, std::size_t block_size)
    : bytes_(bytes), block_bytes_(block_size)
{
    // Huge pages are already reserved. For other pages, the kernel kills processes instead of
    // refusing an allocation, so check the available memory first.
    if (const std::size_t available = sys::available_bytes();
        memory.page_bytes == kPage && bytes > available)
        throw Error(Fault::other, ENOMEM, "allocate", format_size(bytes),
                    "only " + format_size(available) + " of memory is available",
                    "use a smaller --size");
    const detail::BufferRequest request{
        .count = detail::round_up(bytes, block_size) / block_size,
        .bytes = block_size,
        .use = memory.by_memfd ? CpuUse::mapped : CpuUse::none,
        .page_bytes = memory.page_bytes,
    };
    buffers_ = memory.memory ? detail::backend_of(*memory.memory).make(*memory.memory, request)
                             : detail::make_memfd_buffers(request);
    each_.reserve(request.count);
    blocks_.reserve(request.count);
    for (std::size_t i = 0; i < request.count; ++i) {
        if (!buffers_.whole.valid())
            each_.push_back(sys::Mapping::of_file(buffers_.dmabufs[i].get(), bytes_of(i), 0,
                                                  sys::Access::read_write, "DMABUF"));
        std::byte* const data =
            buffers_.whole.valid() ? buffers_.whole.data() + offset(i) : each_[i].data();
        blocks_.emplace_back(data, bytes_of(i));
    }
    // Write back the cache lines with the kernel's zeros, as a capture also does before its first
    // DMA.
    if (!buffers_.dmabufs.empty())
        for (std::size_t i = 0; i < request.count; ++i) {
            const Use once(*this, i, sys::CpuAccess::read_write);
        }
}

std::size_t Area::bytes_of(std::size_t index) const noexcept
{
    return std::min(block_bytes_, bytes_ - offset(index));
}

FileOffset Area::file_offset(std::size_t index) const noexcept
{
    if (buffers_.whole.valid())
        return {buffers_.memfd.get(), offset(index)};
    return {buffers_.dmabufs[index].get(), 0};
}

void Area::begin(std::size_t index, sys::CpuAccess access) const
{
    if (!buffers_.dmabufs.empty())
        sys::dmabuf_begin_cpu(buffers_.dmabufs[index].get(), access);
}

void Area::end(std::size_t index, sys::CpuAccess access) const noexcept
{
    if (!buffers_.dmabufs.empty())
        sys::dmabuf_end_cpu(buffers_.dmabufs[index].get(), access);
}

} // namespace iio_stream::bench
