// SPDX-License-Identifier: MIT
#pragma once

#include "iio/playback.hpp"
#include "iio/overflow_register.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <thread>

namespace iio_stream::iio {

/// Asks the underflow bit of a DAC's core, once a second and before the last blocks are played: it
/// shows what the queue does not, a DMA that stands still with blocks in it. Each time that the bit is
/// set counts as one underflow, where the queue has not run empty in the same time.
/// Owns: a thread, for debugfs is slow. Thread: the owner's.
class UnderflowWatch {
public:
    /// Begins when the first block has been played; what the bit says before is none of the stream's.
    UnderflowWatch(OverflowRegister overflow_register, PlaybackCounts& counts);
    UnderflowWatch(const UnderflowWatch&) = delete;
    ~UnderflowWatch();

    /// Once more now: soon there is nothing left to play, which sets the bit as well. Any thread.
    void look() noexcept { asked_.set(); }

private:
    void run() noexcept;
    void check();
    /// Whether what the register says of an underflow is one that the queue shows as well.
    bool comes_to_light(std::uint64_t underflows, std::uint64_t moves);

    OverflowRegister overflow_register_;
    PlaybackCounts& counts_;
    std::uint64_t counted_ = 0; ///< underflows at the last look
    std::atomic<bool> over_{false};
    sys::Event asked_;
    std::thread thread_;
};

} // namespace iio_stream::iio
