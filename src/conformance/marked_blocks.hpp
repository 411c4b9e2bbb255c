// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/run.hpp"
#include "iio/buffer/dmabuf_queue.hpp"
#include "iio_stream/memory.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace iio_stream::conformance {

/// The state of one block after a device has filled it. Every word had been marked beforehand.
struct MarkedBlock {
    iio::Completion::State state = iio::Completion::State::complete;
    int error = 0;
    std::size_t reported = 0;        ///< bytes transferred, as the kernel reports
    std::size_t untouched = 0;       ///< bytes that still have their mark
    std::size_t filled_to = 0;       ///< bytes up to the last one without a mark
    std::size_t untouched_pages = 0; ///< pages without a written word
};

/// The blocks that a device filled, or the reason why it filled none. The blocks are in one kind of
/// memory, or are the kernel's own.
struct MarkedBlocks {
    std::string refused; ///< why the device cannot fill such blocks; empty if it can
    std::size_t block_bytes = 0;
    std::vector<MarkedBlock> blocks; ///< in the order of their completion
};

/// Makes a device fill some blocks of a memory, each once. Throws Error if they are not complete
/// within 2 s.
MarkedBlocks fill_marked_blocks(const Subject& subject, const Memory& memory);
/// Like fill_marked_blocks(), with the kernel's own blocks, on kernels that have them.
MarkedBlocks fill_marked_kernel_blocks(const Subject& subject);

/// The result of enqueuing blocks to a buffer that is not enabled, and stopping it.
struct IdleQueue {
    std::string refused;
    bool completed = false;   ///< a block completed before the stop
    double waited = 0;        ///< seconds that a wait of kIdleWait took
    std::size_t returned = 0; ///< blocks that came back after the stop
    std::size_t queued = 0;
    static constexpr double kIdleWait = 0.1;
};
IdleQueue stop_idle_queue(const Subject& subject, const Memory& memory);
/// Like stop_idle_queue(), with the kernel's own blocks. Blocks that can be allocated again after
/// the stop count as returned.
IdleQueue stop_idle_kernel_queue(const Subject& subject);

} // namespace iio_stream::conformance
