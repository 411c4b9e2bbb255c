// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer/status_register.hpp"
#include "iio/playback/playback.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <thread>

namespace iio_stream::iio {

/// Reads the underflow bit of a DAC's core, once a second and before the last blocks are played: it
/// shows what the queue does not, such as a DMA that stalls with blocks queued. An empty queue is
/// found where blocks are queued: DmabufPlayback, MmapBlocks::enqueue() and FileioPlayback. Each
/// time the bit is set counts as one underflow, unless the queue was found empty in the same time.
/// Owns: a thread, because debugfs is slow. Thread: the owner's.
class UnderflowRegisterWatch {
public:
    /// Starts when the first block has been played. Until then the bit does not concern the stream.
    UnderflowRegisterWatch(StatusRegister overflow_register, const Playback& playback,
                           PlaybackCounts& counts);
    UnderflowRegisterWatch(const UnderflowRegisterWatch&) = delete;
    ~UnderflowRegisterWatch();

    /// Has the bit read at once: soon nothing is left to play, which also sets it. Any thread.
    void request_read() noexcept { read_requested_.set(); }

private:
    void run() noexcept;
    void check();
    /// Whether the queue shows the underflow, too, that the register shows.
    bool is_shown_by_queue(std::uint64_t underflows, std::uint64_t moves);

    StatusRegister overflow_register_;
    const Playback& playback_;
    PlaybackCounts& counts_;
    std::uint64_t counted_ = 0; ///< underflows at the last reading
    std::atomic<bool> over_{false};
    sys::Event read_requested_;
    std::thread thread_;
};

} // namespace iio_stream::iio
