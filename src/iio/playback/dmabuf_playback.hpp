// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer/dmabuf_queue.hpp"
#include "iio/playback/playback.hpp"

#include <poll.h>

namespace iio_stream::iio {

/// The common part of playing DMABUFs once and of repeating them. The CPU handles only fences.
class DmabufPlayback : public Playback {
public:
    explicit DmabufPlayback(const PlaybackContext& context)
        : Playback(context), queue_(context.file.fd())
    {}

    bool may_block() const noexcept override { return false; }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    Wait wait() override { return {queue_.wait_fd(), POLLIN}; }
    void close() noexcept override;
    bool is_supplied() const override;

protected:
    /// Queues a block that the device plays once.
    void enqueue(std::size_t index, std::size_t bytes);
    /// Switches the device on with all blocks that are queued.
    void switch_on();
    /// Counts a block that has ended, and an underflow if the device had nothing to play before it.
    /// Throws if the block was not played.
    void count_completion(const Completion& done);

    DmabufQueue queue_;

private:
    std::int64_t ended_ns_ = 0;
};

} // namespace iio_stream::iio
