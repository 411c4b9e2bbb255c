// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/fifo.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio_stream/block.hpp"
#include "sys/device/iio_buffer.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace iio_stream::iio {

/// The reason why a DMA driver refuses blocks with ENOMEM, and the remedy. Without coherent
/// DMA, the driver takes descriptors from a small pool, which grows only on 64-bit ARM.
inline constexpr const char* kNoDescriptors =
    "the DMA driver had no memory for the descriptors of all blocks";
inline constexpr const char* kMoreDescriptors =
    "coherent_pool=4M on the kernel's command line gives it more, and smaller or fewer blocks need "
    "less (--block-size, --blocks)";

/// How a block in the device's queue ended.
struct Completion {
    enum class State { complete, unverified, failed, cancelled };

    std::size_t index = 0; ///< index of its buffer in the pool
    State state = State::complete;
    int error = 0;                ///< errno if failed or cancelled
    std::int64_t ns = 0;          ///< CLOCK_MONOTONIC at its end; at its ENQUEUE if unverified
    std::int64_t enqueued_ns = 0; ///< after its ENQUEUE
    std::int64_t earliest_ns = 0; ///< it ended no earlier; equals ns unless unverified
};

/// Attaches a DMABUF to a buffer that is off. Takes the buffer out of fileio mode if necessary.
sys::Attach attach(BufferDir& dir, int buffer_fd, int dmabuf_fd, int& error);

/// The DMABUFs of a pool that are attached to one IIO buffer, and the device's queue of them. The
/// kernel completes the queued blocks in order and signals a fence for each. The result is read
/// from the sync_file that is exported right after ENQUEUE.
/// Owns: the attachments and the sync_files; shares the DMABUFs' files; borrows the buffer file.
/// Thread: one at a time.
class DmabufQueue {
public:
    explicit DmabufQueue(int buffer_fd) : buffer_fd_(buffer_fd) {}
    DmabufQueue(const DmabufQueue&) = delete;
    ~DmabufQueue();

    /// Attaches all blocks of the pool to the IIO buffer, which must be off. Returns false, with
    /// the errno in `error`, if the kernel or driver does not accept them; blocks that are already
    /// attached are detached again. Throws EBUSY if another program is streaming from the buffer by
    /// read() or write().
    bool attach(BufferDir& dir, const BlockPool& pool, int& error);
    /// Detaches all blocks, and removes those in flight from the queue. The buffer must be off or
    /// gone. The pool need not exist any more.
    void detach() noexcept;

    enum class Put { queued, stuck };
    /// Queues the first `bytes` of a block. Returns stuck if the block's last submission had failed
    /// unnoticed (the kernel returns EBUSY); the block has then been reattached and queued again.
    /// `cyclic`: the device repeats the block.
    Put enqueue(std::size_t index, std::size_t bytes, bool cyclic = false);

    /// Switches the device on. If the DMA driver then has no memory for some queued blocks,
    /// switches the device off, pauses, and switches it on again with all blocks. Retries this a
    /// few times. Returns the number of retries.
    unsigned switch_on(BufferDir& dir);
    /// The time just before the device was last switched on. switch_on() can return much later. The
    /// device is already running while the kernel processes the rest of the queue and prints a line
    /// on the console for each block that it refuses.
    std::int64_t on_ns() const noexcept { return on_ns_; }
    /// Reattaches all blocks, and queues the same blocks as before in the same order. Cyclic blocks
    /// stay cyclic only if `cyclic` is set. The buffer must be off.
    void renew(bool cyclic);

    /// Returns the next completed block. Once the file of wait_fd() is readable, returns the blocks
    /// whose completion it signals. After them, returns nullopt without a system call until the
    /// next wait_fd().
    std::optional<Completion> take();
    /// A file that is readable when one or more blocks are complete; -1 = none is in flight. If
    /// blocks end more often than once per kCoalesceNs, the file becomes readable for several
    /// together, up to half of the queue. One wake-up then serves many blocks, like interrupt
    /// coalescing in network cards.
    int wait_fd() noexcept;
    std::size_t pending() const noexcept { return queue_.size(); }
    /// Whether the device is still working on the last block.
    bool is_busy();
    /// Returns the FenceInfo::status of the n-th block in flight.
    int status(std::size_t n) const;
    /// A file that is readable when the last block is complete; -1 = none is in flight.
    int last_fd() const noexcept;
    /// Removes all blocks in flight but the first from the queue. The others must have ended.
    void keep_first();

private:
    static constexpr std::int64_t kCoalesceNs = 1'000'000;

    struct Flight {
        std::size_t index, bytes;
        sys::UniqueFd fence;
        std::int64_t asked_ns;    ///< time before its ENQUEUE
        std::int64_t enqueued_ns; ///< time after its ENQUEUE
        bool cyclic;
    };

    bool refused() const;

    int buffer_fd_;
    std::vector<int> dmabufs_; ///< the pool's fds of the attached DMABUFs, by index
    /// Keeps them open. DETACH identifies an attachment by the file behind the fd, and the pool can
    /// be destroyed earlier.
    std::shared_ptr<const void> kept_;
    detail::Fifo<Flight> queue_;
    std::int64_t last_end_ns_ = 0; ///< when the block before the front one ended
    std::int64_t on_ns_ = 0;
    std::int64_t interval_ns_ = kCoalesceNs; ///< between the ends of two blocks, smoothed
    std::size_t promised_ = 0;               ///< blocks complete when wait_fd() is readable
};

} // namespace iio_stream::iio
