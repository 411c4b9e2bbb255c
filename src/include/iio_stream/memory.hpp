// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

// Which memory to choose: DMABUFs (heap, udmabuf) are what a device fills without a copy; plain
// pages are what everything else needs. memory=auto, the default, takes the memory that lets the
// endpoints of a stream make the fewest copies; among equals the first of memory_choices(). The
// route in the summary says which, and why.

/// What blocks are made of.
enum class MemoryKind {
    heap,    ///< DMABUFs from a heap in /dev/dma_heap; "cma" heaps are physically contiguous
    udmabuf, ///< DMABUFs over a memfd, by /dev/udmabuf; page cache and O_DIRECT work on them
    pages,   ///< a memfd: no DMABUF, any machine has it
    given,   ///< DMABUFs that the caller passes in
    kernel   ///< the source's own blocks of kernel memory, which the program maps: no DMABUF, no
             ///< O_DIRECT
};

/// One memory to make blocks of: a kind, and what that kind needs to know.
///
///     BlockPool pool(Memory::parse("memory", "heap:system"), 1 << 20, 8, CpuUse::mapped);
struct IIO_STREAM_API Memory {
    MemoryKind kind = MemoryKind::pages;
    std::string heap;     ///< kind heap: its name in /dev/dma_heap
    std::vector<int> fds; ///< kind given: DMABUFs, one per block; borrowed until the pool is made

    /// From "heap:NAME", "udmabuf", "pages" or "kernel". Throws a usage Error that names `option`
    /// for anything else.
    static Memory parse(std::string_view option, std::string_view text);
    /// Blocks that are DMABUFs from elsewhere (DRM, V4L2, another process). The caller keeps the
    /// fds open until the pool is made, and may close them afterwards.
    static Memory import(std::vector<int> dmabuf_fds);
    /// The text that parse() takes.
    std::string name() const;

    bool operator==(const Memory&) const = default;
};

/// What blocks of a memory can do. Source::plan() and Sink::plan() decide by it whether they can
/// use them.
struct MemoryTraits {
    Memory memory;
    bool attachable = false; ///< they are DMABUFs, which can be handed to a device
    bool direct_io = false;  ///< O_DIRECT works on their mapping (EFAULT on that of a dma-heap)
    std::size_t page_bytes = 4096; ///< page size; larger with huge pages
    std::size_t block_size = 0;    ///< bytes of one block
    /// Scatter-gather entries per block that a DMA engine has to process; nullopt: unknown, as for
    /// all memory made here. No kernel reports it, and for the same pages 6.12 makes 1024 and 7.3
    /// one or two.
    std::optional<std::size_t> segments;
};

/// A memory, and whether this machine can make blocks of it.
struct MemoryChoice {
    Memory memory;
    std::string unavailable; ///< why not: "open /dev/udmabuf: Permission denied"; empty if it can
};
/// Every kind of memory, best first, unavailable ones included. Opens the device files each time it
/// is called; throws only when out of memory. Thread: any.
IIO_STREAM_API std::vector<MemoryChoice> memory_choices();

} // namespace iio_stream
