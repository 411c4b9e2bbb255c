// SPDX-License-Identifier: MIT
#pragma once

#include "core/fifo.hpp"
#include "iio/buffer_dir.hpp"
#include "iio_stream/block.hpp"
#include "sys/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace iio_stream::iio {

/// What became of a block that was in the device's queue.
struct Completion {
    enum class State { complete, unverified, failed, cancelled };

    std::size_t index = 0; ///< its buffer in the pool
    State state = State::complete;
    int error = 0;                ///< failed, cancelled: why
    std::int64_t ns = 0;          ///< CLOCK_MONOTONIC of its end; of its enqueueing if unverified
    std::int64_t enqueued_ns = 0; ///< after its ENQUEUE
    std::int64_t earliest_ns = 0; ///< it did not end before that; ns, unless unverified
};

/// A pool's DMABUFs attached to one IIO buffer, and those of them that are in the device's queue,
/// in order. The kernel completes them in that order, each by a fence; its verdict is read from the
/// sync_file that is exported right after ENQUEUE.
/// Owns: the attachments, an fd for each, and the sync_files; borrows the buffer file.
/// Thread: one at a time.
class DmabufQueue {
public:
    explicit DmabufQueue(int buffer_fd) : buffer_fd_(buffer_fd) {}
    DmabufQueue(const DmabufQueue&) = delete;
    ~DmabufQueue();

    /// Attaches all buffers. False with the errno in `error` where the kernel or driver does not
    /// take them; what was attached is detached again.
    bool attach(const BlockPool& pool, int& error);
    /// Forgets what is in flight, too: the buffer is off, or gone. Also when the pool is gone.
    void detach() noexcept;

    enum class Put { queued, stuck };
    /// Queues `bytes` of a buffer. Stuck: its last submission had failed without a sign (the kernel
    /// says EBUSY); it has been attached anew and queued again. `cyclic`: to be repeated.
    Put enqueue(std::size_t index, std::size_t bytes, bool cyclic = false);

    /// Switches the device on. Where the DMA driver then has no memory for some of what is queued,
    /// off again, and on once more with all of it, after a pause, a few times. Returns how many
    /// times.
    unsigned switch_on(BufferDir& dir);
    /// Right before the device was last switched on: it runs while the kernel still looks at the rest
    /// of the queue, and each block refused is a line on the console.
    std::int64_t on_ns() const noexcept { return on_ns_; }
    /// Attaches all buffers anew and queues what was queued, in the same order, none of it to be
    /// repeated unless `cyclic`. The buffer is off.
    void renew(bool cyclic);

    /// The next that is complete. After wait_fd() was readable it finds as many as that promised,
    /// and then, once, nothing, without asking the kernel.
    std::optional<Completion> take();
    /// A file that is readable when one or several blocks are complete; -1: none is in flight.
    /// Where blocks end faster than every kCoalesceNs they are waited for together, up to half of
    /// them at a time: one wake-up for many, as network cards coalesce interrupts.
    int wait_fd() noexcept;
    std::size_t pending() const noexcept { return queue_.size(); }
    /// Whether the device is not done with the last block yet.
    bool is_busy();
    /// How the n-th block that is in flight has ended: as FenceInfo::status.
    int status(std::size_t n) const;
    /// Readable when the last block is done with; -1: none is in flight.
    int last_fd() const noexcept;
    /// Forgets all blocks in flight but the first. They must have ended.
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
    /// Attached, by index in the pool. Fds of our own: DETACH names an attachment by whatever file
    /// the number stands for by then, and the pool's may be closed, and used again.
    std::vector<sys::UniqueFd> dmabufs_;
    detail::Fifo<Flight> queue_;
    std::int64_t last_end_ns_ = 0;           ///< when the block before the front was done with
    std::int64_t on_ns_ = 0;
    std::int64_t interval_ns_ = kCoalesceNs; ///< between the ends of two blocks, smoothed
    std::size_t promised_ = 0;               ///< blocks that wait_fd() stands for
};

} // namespace iio_stream::iio
