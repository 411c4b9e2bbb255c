// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/align.hpp"
#include "iio_stream/block.hpp"
#include "sys/memory/mapping.hpp"
#include "sys/unique_fd.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iio_stream::detail {

/// Buffers of equal size, made by a backend. Each is a DMABUF, a part of one mapping, or both.
/// Owns: files and mappings, which are unmapped before the files are closed.
struct Buffers {
    sys::UniqueFd memfd;                ///< a file that holds the buffers one after another
    std::vector<sys::UniqueFd> dmabufs; ///< one for each buffer
    sys::Mapping whole;                 ///< mapping of all buffers, one after another
    std::size_t page_bytes = kPage;
};

struct BufferRequest {
    std::size_t count = 0;
    std::size_t bytes = 0;                 ///< of one buffer; whole pages, unless imported
    CpuUse use = CpuUse::mapped;           ///< none: no mapping is needed
    std::optional<std::size_t> page_bytes; ///< required size; nullopt: the largest available
};

/// The properties and functions of one kind of memory.
struct MemoryBackend {
    MemoryKind kind;
    /// The name in memory=. If it ends with ':', the name of the memory follows. "": it cannot be
    /// requested.
    const char* spelling = "";
    bool attachable = false; ///< its buffers are DMABUFs
    bool in_memfd = false;   ///< its buffers are parts of a memfd, whose pages can be huge
    bool direct_io = false;  ///< O_DIRECT works on the mapping of its buffers
    /// Only the source that has this memory can use it; see BlockNeeds::own.
    bool only_source = false;
    bool sync_reaches_devices = false; ///< DMA_BUF_IOCTL_SYNC copies pages that were bounced
    const char* module = "";           ///< the kernel module that makes it available; "": none
    /// The name to report if this machine has no such memory; nullptr: no name is needed.
    const char* usual = nullptr;
    /// The memories of this kind on this machine, best first.
    std::vector<Memory> (*all)() = [] { return std::vector<Memory>{}; };
    /// The reason why `memory` cannot be used; "" if it can.
    std::string (*unavailable)(const Memory& memory) = [](const Memory&) { return std::string(); };
    /// Bytes of the largest buffer; nullptr: only the available memory sets a limit.
    std::size_t (*largest)() = nullptr;
    const char* limited_by = nullptr; ///< the setting that limits largest()
    Buffers (*make)(const Memory& memory, const BufferRequest& request) = nullptr; ///< throws Error
};

/// The kinds of memory, best first.
std::span<const MemoryBackend> memory_backends() noexcept;
const MemoryBackend& backend_of(const Memory& memory) noexcept;
/// The memories of `backend` on this machine, or its usual memory if this machine has none.
std::vector<Memory> choices_of(const MemoryBackend& backend);
/// The traits of blocks that are made of `memory`.
MemoryTraits traits_of(const Memory& memory, std::size_t block_size);

/// Makes buffers in a memfd, without DMABUFs. Throws Error.
Buffers make_memfd_buffers(const BufferRequest& request);

} // namespace iio_stream::detail
