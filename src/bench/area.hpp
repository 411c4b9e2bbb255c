// SPDX-License-Identifier: MIT
#pragma once

#include "sys/dmabuf.hpp"
#include "sys/mapping.hpp"
#include "sys/unique_fd.hpp"

#include <span>
#include <vector>

namespace iio_stream::bench {

/// memfd:         its mapping
/// udmabuf_memfd: the memfd's mapping, with udmabufs over it
/// udmabuf:       the udmabufs' own mappings
/// heap:          mappings of DMABUFs of the dma-heap "system"
enum class Kind { memfd, udmabuf_memfd, udmabuf, heap };
const char* name_of(Kind kind) noexcept;

/// A block's memory as a file range, for sendfile() and the like.
struct Place {
    int fd;
    std::uint64_t offset;
};

/// The memory of one cell, in blocks, pre-faulted; one DMABUF per block where it has DMABUFs.
/// Owns: memfd, DMABUFs and mappings. Throws Error from the constructor and begin().
class Area {
public:
    /// `page_bytes`: 4096, or the size of huge pages. The last block may be shorter.
    Area(Kind kind, std::size_t page_bytes, std::size_t bytes, std::size_t block_size);

    std::size_t count() const noexcept { return blocks_.size(); }
    std::span<std::byte> block(std::size_t index) const noexcept { return blocks_[index]; }
    std::span<const std::span<std::byte>> blocks() const noexcept { return blocks_; }
    std::size_t offset(std::size_t index) const noexcept { return index * block_bytes_; }
    Place place(std::size_t index) const noexcept;
    /// CPU or disk access to a DMABUF's memory belongs between these two.
    void begin(std::size_t index, sys::CpuAccess access) const;
    void end(std::size_t index, sys::CpuAccess access) const noexcept;

private:
    void from_memfd(Kind kind, std::size_t page_bytes);
    void from_heap();
    void map_each();
    std::size_t bytes_of(std::size_t index) const noexcept;

    std::size_t bytes_, block_bytes_;
    sys::UniqueFd memfd_;
    std::vector<sys::UniqueFd> dmabufs_;
    sys::Mapping whole_;
    std::vector<sys::Mapping> each_;
    std::vector<std::span<std::byte>> blocks_;
};

/// Brackets the use of one block.
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
