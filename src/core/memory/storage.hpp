// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/memory_backend.hpp"

#include <memory>
#include <span>
#include <vector>

namespace iio_stream::detail {

/// The memory that holds a pool's buffers. It can be of any kind.
/// Owns: DMABUFs, memfd and mappings, which are unmapped before the files are closed.
class Storage {
public:
    Storage(const Memory& memory, std::size_t block_size, std::size_t count, CpuUse use);

    const MemoryTraits& traits() const noexcept { return traits_; }
    std::size_t block_size() const noexcept { return traits_.block_size; }
    int dmabuf(std::size_t index) const noexcept
    {
        return dmabufs_->empty() ? -1 : (*dmabufs_)[index].get();
    }
    std::shared_ptr<const void> keep_dmabufs() const noexcept { return dmabufs_; }
    std::span<std::byte> mapping(std::size_t index) const noexcept;
    /// Replaces the mapping of a buffer's range with ordinary pages of the same content if `keep`
    /// is true, otherwise with a reserved range. Returns false if memory has run out.
    bool detach(std::size_t index, bool keep) const noexcept
    {
        return buffers_.whole.replace(index * stride(), stride(), keep);
    }

private:
    void check_room(std::size_t count) const;
    void check_open_files(std::size_t count) const;
    std::size_t stride() const noexcept;

    MemoryTraits traits_;
    std::shared_ptr<const std::vector<sys::UniqueFd>> dmabufs_; ///< moved out of buffers_
    Buffers buffers_;
    std::vector<sys::Mapping> each_; ///< DMABUFs mapped one by one, if they have no common mapping
};

} // namespace iio_stream::detail
