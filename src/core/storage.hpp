// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "sys/mapping.hpp"
#include "sys/unique_fd.hpp"

#include <span>
#include <vector>

namespace iio_stream::detail {

/// What blocks of that memory can do.
MemoryTraits traits_of(const Memory& memory, std::size_t block_size);

/// The memory of a pool's buffers, for each kind of `Memory`.
/// Owns: DMABUFs, memfd and mappings; unmapped before the files close.
class Storage {
public:
    Storage(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use);

    const MemoryTraits& traits() const noexcept { return traits_; }
    std::size_t block_size() const noexcept { return traits_.block_size; }
    int dmabuf(std::size_t index) const noexcept
    {
        return dmabufs_.empty() ? -1 : dmabufs_[index].get();
    }
    std::span<std::byte> mapping(std::size_t index) const noexcept;

private:
    void check_room(std::size_t count) const;
    void check_open_files(std::size_t count) const;
    void from_heap(std::size_t count, CpuUse use);
    void from_udmabuf(std::size_t count, CpuUse use);
    void take_small_pages(std::size_t bytes, CpuUse use);
    void from_pages(std::size_t count);
    void from_given(std::size_t count, CpuUse use);
    void map_each(CpuUse use);
    std::size_t stride() const noexcept;

    MemoryTraits traits_;
    sys::UniqueFd memfd_;
    std::vector<sys::UniqueFd> dmabufs_;
    sys::Mapping whole_;                ///< the memfd of udmabuf, or plain pages: buffers at stride()
    std::vector<sys::Mapping> each_;    ///< DMABUFs mapped one by one
};

} // namespace iio_stream::detail
