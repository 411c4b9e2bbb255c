// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer/status_register.hpp"
#include "iio/playback/playback.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <thread>

namespace iio_stream::iio {

/// Reads the underflow bit of a DAC's core once a second, and before the last blocks are played.
/// The bit shows underflows that the queue does not show, such as a DMA that stalls while blocks
/// are queued. DmabufPlayback, MmapBlocks::enqueue() and FileioPlayback detect an empty queue when
/// they queue a block. Each read that finds the bit set counts as one underflow, unless the queue
/// was found empty in the same period.
/// Owns: a thread, because debugfs is slow. Thread: the owner's.
class UnderflowRegisterWatch {
public:
    /// Starts when the first block has been played. Until then the bit does not concern the stream.
    UnderflowRegisterWatch(StatusRegister overflow_register, const Playback& playback,
                           PlaybackCounts& counts);
    UnderflowRegisterWatch(const UnderflowRegisterWatch&) = delete;
    ~UnderflowRegisterWatch();

    /// Requests an immediate read of the bit, because the device will soon have nothing left to
    /// play, which also sets the bit. Thread: any.
    void request_read() noexcept { read_requested_.set(); }

private:
    void run() noexcept;
    void check();
    /// Whether the queue also shows the underflow that the register shows.
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
