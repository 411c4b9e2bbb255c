// SPDX-License-Identifier: MIT
#pragma once

#include "iio/overflow_register.hpp"
#include "iio/playback.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <thread>

namespace iio_stream::iio {

/// Reads the underflow bit of a DAC's core, once a second and before the last blocks are played: it
/// shows what the queue does not, such as a DMA that stalls with blocks queued. Each time the bit
/// is set counts as one underflow, unless the queue was seen empty in the same time. Owns: a
/// thread, because debugfs is slow. Thread: the owner's.
class UnderflowWatch {
public:
    /// Starts when the first block has been played; what the bit says before does not concern the
    /// stream.
    UnderflowWatch(OverflowRegister overflow_register, const Playback& playback,
                   PlaybackCounts& counts);
    UnderflowWatch(const UnderflowWatch&) = delete;
    ~UnderflowWatch();

    /// Reads now: soon nothing is left to play, which also sets the bit. Any thread.
    void look() noexcept { asked_.set(); }

private:
    void run() noexcept;
    void check();
    /// Whether an underflow in the register is one that the queue shows as well.
    bool comes_to_light(std::uint64_t underflows, std::uint64_t moves);

    OverflowRegister overflow_register_;
    const Playback& playback_;
    PlaybackCounts& counts_;
    std::uint64_t counted_ = 0; ///< underflows at the last reading
    std::atomic<bool> over_{false};
    sys::Event asked_;
    std::thread thread_;
};

} // namespace iio_stream::iio
