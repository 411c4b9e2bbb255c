// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

// How to choose a memory: a device fills DMABUFs (heap, udmabuf) without a copy. Plain pages are
// enough for everything else. memory=auto, the default, selects the memory that needs the fewest
// copies between the endpoints of a stream. If several are equal, it selects the first one in
// memory_choices(). The route in the summary names the selected memory and the reason.

/// The kind of memory that blocks are made of.
enum class MemoryKind {
    heap,    ///< DMABUFs from a heap in /dev/dma_heap; "cma" heaps are physically contiguous
    udmabuf, ///< DMABUFs over a memfd, from /dev/udmabuf; page cache and O_DIRECT work on them
    pages,   ///< a memfd, available on every machine; not a DMABUF
    given,   ///< DMABUFs that the caller passes in
    kernel   ///< the source's own blocks in kernel memory, mapped into the program; not DMABUFs,
             ///< and O_DIRECT does not work on them
};

/// A memory to make blocks from: its kind, and the parameters of that kind.
///
///     BlockPool pool(Memory::parse("memory", "heap:system"), 1 << 20, 8, CpuUse::mapped);
struct IIO_STREAM_API Memory {
    MemoryKind kind = MemoryKind::pages;
    std::string heap;     ///< kind heap: name of the heap in /dev/dma_heap
    std::vector<int> fds; ///< kind given: DMABUFs, one per block; borrowed until the pool is made

    /// Parses "heap:NAME", "udmabuf", "pages" or "kernel". Throws a usage Error that names `option`
    /// for any other text.
    static Memory parse(std::string_view option, std::string_view text);
    /// Makes a Memory of DMABUFs from elsewhere (DRM, V4L2, another process). The caller keeps the
    /// file descriptors open until the pool is made and can close them afterwards.
    static Memory import(std::vector<int> dmabuf_fds);
    /// The text that parse() takes.
    std::string name() const;

    bool operator==(const Memory&) const = default;
};

/// Properties of the blocks of a memory. Source::plan() and Sink::plan() use them to decide whether
/// they can use such blocks.
struct MemoryTraits {
    Memory memory;
    bool attachable = false; ///< the blocks are DMABUFs, which can be attached to a device
    bool direct_io = false;  ///< O_DIRECT works on their mapping; on a dma-heap's, it gives EFAULT
    std::size_t page_bytes = 4096; ///< page size; larger with huge pages
    std::size_t block_size = 0;    ///< bytes of one block
    /// Scatter-gather entries per block that a DMA engine has to process; nullopt: unknown, as for
    /// all memory that this library allocates. No kernel reports the number, and it depends on the
    /// kernel: for the same pages, Linux 6.12 makes 1024 entries and Linux 7.3 makes one or two.
    std::optional<std::size_t> segments;
};

/// A memory, and whether this machine can make blocks of it.
struct MemoryChoice {
    Memory memory;
    std::string unavailable; ///< the reason why not: "open /dev/udmabuf: Permission denied"; empty
                             ///< if it can
};
/// Returns every kind of memory, best first, including unavailable ones. Opens the device files on
/// every call. Throws only when out of memory. Thread: any.
IIO_STREAM_API std::vector<MemoryChoice> memory_choices();

} // namespace iio_stream
