// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/align.hpp"
#include "core/memory/memory_backend.hpp"
#include "sys/memory/dmabuf.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::bench {

/// A row of the matrix: memory, the size of its pages, and the mapping by which it is read and
/// written.
struct AreaMemory {
    std::string name; ///< "memfd", "udmabuf" (the DMABUFs' mappings), "udmabuf+memfd" (the memfd's)
    std::optional<Memory> memory; ///< nullopt: a memfd without DMABUFs
    bool by_memfd = false;
    std::size_t page_bytes = detail::kPage;
};
/// Lists a memfd, and DMABUFs of each available kind (detail::memory_backends()), on small and on
/// huge pages.
std::vector<AreaMemory> area_memories();

/// A block's memory as a file range, for sendfile() and the like.
struct FileOffset {
    int fd;
    std::uint64_t offset;
};

/// The memory of one cell, in blocks, pre-faulted; one DMABUF per block if it has DMABUFs.
/// Owns: memfd, DMABUFs and mappings. Throws Error from the constructor and begin().
class Area {
public:
    /// The last block can be shorter.
    Area(const AreaMemory& memory, std::size_t bytes, std::size_t block_size);

    std::size_t count() const noexcept { return blocks_.size(); }
    std::span<std::byte> block(std::size_t index) const noexcept { return blocks_[index]; }
    std::span<const std::span<std::byte>> blocks() const noexcept { return blocks_; }
    std::size_t offset(std::size_t index) const noexcept { return index * block_bytes_; }
    FileOffset file_offset(std::size_t index) const noexcept;
    /// begin() and end() must enclose all accesses of the CPU or a disk to a DMABUF's memory.
    void begin(std::size_t index, sys::CpuAccess access) const;
    void end(std::size_t index, sys::CpuAccess access) const noexcept;

private:
    std::size_t bytes_of(std::size_t index) const noexcept;

    std::size_t bytes_, block_bytes_;
    detail::Buffers buffers_;
    std::vector<sys::Mapping> each_; ///< of each DMABUF, if there is no single mapping
    std::vector<std::span<std::byte>> blocks_;
};

/// Calls begin() and end() around the use of one block.
class Use {
public:
    Use(const Area& area, std::size_t index, sys::CpuAccess access)
        : area_(area), index_(index), access_(access)
    {
        area_.begin(index_, access_);
    }
    Use(const Use&) = delete;
    ~Use() { area_.end(index_, access_); }

private:
    const Area& area_;
    std::size_t index_;
    sys::CpuAccess access_;
};

} // namespace iio_stream::bench
