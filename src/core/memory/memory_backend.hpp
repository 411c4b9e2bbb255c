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

/// Buffers of one size, as a backend makes them: each is a DMABUF, or a part of one mapping, or
/// both. Owns: files and mappings; unmapped before the files close.
struct Buffers {
    sys::UniqueFd memfd;                ///< a file that holds them one after another
    std::vector<sys::UniqueFd> dmabufs; ///< one for each
    sys::Mapping whole;                 ///< of all of them, one after another
    std::size_t page_bytes = kPage;
};

struct BufferRequest {
    std::size_t count = 0;
    std::size_t bytes = 0;                 ///< of one buffer: whole pages, except of given ones
    CpuUse use = CpuUse::mapped;           ///< none: no mapping is needed
    std::optional<std::size_t> page_bytes; ///< pages of this size or none; nullopt: the largest
};

/// All that the library knows about one kind of memory.
struct MemoryBackend {
    MemoryKind kind;
    const char* spelling =
        ""; ///< in memory=; the memory's own name follows a ':'. "": cannot be requested
    bool attachable = false; ///< its buffers are DMABUFs
    bool in_memfd = false;   ///< and parts of a memfd, whose pages can be huge ones
    bool direct_io = false;  ///< O_DIRECT works on their mapping
    bool only_source =
        false; ///< only the source whose memory it is can use it: see BlockNeeds::own
    bool sync_reaches_devices = false; ///< DMA_BUF_IOCTL_SYNC copies pages that were bounced
    const char* module = "";           ///< the kernel module that makes it available; "": none
    const char* usual = nullptr; ///< the name to report if this machine has none; nullptr: it has
    /// Those of this machine, best first.
    std::vector<Memory> (*all)() = [] { return std::vector<Memory>{}; };
    /// Why it cannot be used; "" if it can.
    std::string (*unavailable)(const Memory& memory) = [](const Memory&) { return std::string(); };
    std::size_t (*largest)() =
        nullptr; ///< bytes of the largest buffer; nullptr: only memory itself sets a limit …
    const char* limited_by = nullptr; ///< … and otherwise what does
    Buffers (*make)(const Memory& memory, const BufferRequest& request) = nullptr; ///< throws Error
};

/// The kinds of memory, best first.
std::span<const MemoryBackend> memory_backends() noexcept;
const MemoryBackend& backend_of(const Memory& memory) noexcept;
/// Its memories on this machine, or its usual one, which this machine lacks.
std::vector<Memory> choices_of(const MemoryBackend& backend);
/// What blocks of that memory can do.
MemoryTraits traits_of(const Memory& memory, std::size_t block_size);

/// Buffers in a memfd, without DMABUFs. Throws Error.
Buffers make_memfd_buffers(const BufferRequest& request);

} // namespace iio_stream::detail
