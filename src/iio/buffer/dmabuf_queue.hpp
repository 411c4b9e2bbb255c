// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio_stream/block.hpp"
#include "sys/device/iio_buffer.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::iio {

/// Why a DMA driver refuses blocks with ENOMEM, and the remedy. Without coherent DMA it takes
/// descriptors from a small pool, which grows only on 64-bit ARM.
inline constexpr const char* kNoDescriptors =
    "the DMA driver had no memory for the descriptors of all blocks";
inline constexpr const char* kMoreDescriptors =
    "coherent_pool=4M on the kernel's command line gives it more, and smaller or fewer blocks need "
    "less (--block-size, --blocks)";

/// How a block in the device's queue ended.
struct Completion {
    enum class State { complete, unverified, failed, cancelled };

    std::size_t index = 0; ///< its buffer in the pool
    State state = State::complete;
    int error = 0;                ///< if failed or cancelled: why
    std::int64_t ns = 0;          ///< CLOCK_MONOTONIC at its end; at its ENQUEUE if unverified
    std::int64_t enqueued_ns = 0; ///< after its ENQUEUE
    std::int64_t earliest_ns = 0; ///< it ended no earlier; equals ns unless unverified
};

/// Attaches a DMABUF to a buffer that is off, which leaves fileio mode if need be.
sys::Attach attach(BufferDir& dir, int buffer_fd, int dmabuf_fd, int& error);

/// A pool's DMABUFs attached to one IIO buffer, and those of them that are in the device's queue,
/// in order. The kernel completes them in that order, each by a fence; the result is read from the
/// sync_file exported right after ENQUEUE.
/// Owns: the attachments, an fd for each, and the sync_files; borrows the buffer file.
/// Thread: one at a time.
class DmabufQueue {
public:
    explicit DmabufQueue(int buffer_fd) : buffer_fd_(buffer_fd) {}
    DmabufQueue(const DmabufQueue&) = delete;
    ~DmabufQueue();

    /// Attaches all buffers, to a buffer that is off. False, with the errno in `error`, if the
    /// kernel or driver does not take them; those already attached are detached again.
    bool attach(BufferDir& dir, const BlockPool& pool, int& error);
    /// Forgets blocks in flight too: the buffer is off or gone. Works after the pool is gone.
    void detach() noexcept;

    enum class Put { queued, stuck };
    /// Queues `bytes` of a buffer. Stuck: its last submission had failed unnoticed (the kernel says
    /// EBUSY); it has been reattached and queued again. `cyclic`: the device is to repeat it.
    Put enqueue(std::size_t index, std::size_t bytes, bool cyclic = false);

    /// Switches the device on. If the DMA driver then has no memory for some queued blocks,
    /// switches it off and, after a pause, on again with all of them, a few times. Returns the
    /// number of retries.
    unsigned switch_on(BufferDir& dir);
    /// Just before the device was last switched on: it runs while the kernel still processes the
    /// rest of the queue, and each refused block is a line on the console.
    std::int64_t on_ns() const noexcept { return on_ns_; }
    /// Reattaches all buffers and queues what was queued, in the same order, not to be repeated
    /// unless `cyclic`. The buffer must be off.
    void renew(bool cyclic);

    /// The next completed block. After wait_fd() was readable it returns as many as that promised,
    /// then nothing once, without asking the kernel.
    std::optional<Completion> take();
    /// A file that is readable when one or several blocks are complete; -1: none is in flight. If
    /// blocks end more often than every kCoalesceNs, waits for several together, up to half of
    /// them: one wake-up for many, like interrupt coalescing in network cards.
    int wait_fd() noexcept;
    std::size_t pending() const noexcept { return queue_.size(); }
    /// Whether the device still works on the last block.
    bool is_busy();
    /// How the n-th block in flight has ended: see FenceInfo::status.
    int status(std::size_t n) const;
    /// Readable when the last block is complete; -1: none is in flight.
    int last_fd() const noexcept;
    /// Forgets all blocks in flight but the first. The others must have ended.
    void keep_first();

private:
    static constexpr std::int64_t kCoalesceNs = 1'000'000;

    struct Flight {
        std::size_t index, bytes;
        sys::UniqueFd fence;
        std::int64_t asked_ns;    ///< before its ENQUEUE
        std::int64_t enqueued_ns; ///< after it
        bool cyclic;
    };

    bool refused() const;

    int buffer_fd_;
    /// Attached, by index in the pool. Our own fds: DETACH identifies an attachment by the file
    /// behind the number, and the pool's may have been closed and reused by then.
    std::vector<sys::UniqueFd> dmabufs_;
    detail::Fifo<Flight> queue_;
    std::int64_t last_end_ns_ = 0; ///< when the block before the front one ended
    std::int64_t on_ns_ = 0;
    std::int64_t interval_ns_ = kCoalesceNs; ///< between the ends of two blocks, smoothed
    std::size_t promised_ = 0;               ///< blocks that wait_fd() promised
};

} // namespace iio_stream::iio
