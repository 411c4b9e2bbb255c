// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream {

enum class MemoryKind { heap, udmabuf, pages, given };

/// How blocks are made.
struct IIO_STREAM_API Memory {
    MemoryKind kind = MemoryKind::pages;
    std::string heap;     ///< kind heap: its name in /dev/dma_heap
    std::vector<int> fds; ///< kind given: foreign DMABUFs, one per block, borrowed until the pool is

    /// "heap:NAME", "udmabuf" or "pages"; throws a usage Error that names `option` for all else.
    static Memory parse(std::string_view option, std::string_view text);
    /// Blocks that are somebody else's DMABUFs (DRM, V4L2, another process).
    static Memory import(std::vector<int> dmabuf_fds);
    std::string name() const;

    bool operator==(const Memory&) const = default;
};

/// What blocks of a memory can do; endpoints judge it in Source::plan() and Sink::plan().
struct MemoryTraits {
    Memory memory;
    bool attachable = false;  ///< they are DMABUFs that a device can be given
    bool direct_io = false;   ///< O_DIRECT works on their mapping (EFAULT on dma-heap's)
    std::size_t page_bytes = 4096;
    std::size_t block_size = 0;
    /// Pieces that a DMA engine must be told of, per block; unknown where nullopt, as it is of all that
    /// is made here: no kernel tells, and of the same pages 6.12 makes 1024 where 7.3 makes one or two.
    std::optional<std::size_t> segments;
};

/// What the machine can make blocks of, best first; what it cannot comes with the reason.
struct MemoryChoice {
    Memory memory;
    std::string unavailable; ///< empty, or why not: "open /dev/udmabuf: Permission denied"
};
IIO_STREAM_API std::vector<MemoryChoice> memory_choices();

} // namespace iio_stream
