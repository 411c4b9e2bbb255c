// SPDX-License-Identifier: MIT
#pragma once

#include "iio/dmabuf_queue.hpp"
#include "iio/playback.hpp"

#include <poll.h>

namespace iio_stream::iio {

/// What playing of DMABUFs shares, once or in a circle; the CPU sees fences only.
class DmabufPlayback : public Playback {
public:
    explicit DmabufPlayback(const PlaybackContext& context)
        : Playback(context), queue_(context.file.fd())
    {}

    bool may_block() const noexcept override { return false; }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    Wait wait() override { return {queue_.wait_fd(), POLLIN}; }
    void close() noexcept override;

protected:
    /// Queues what is not to be repeated by the device.
    void enqueue(std::size_t index, std::size_t bytes);
    /// The device, with all that is queued.
    void switch_on();
    /// Whether it was played, and whether the device had nothing to play before it.
    void judge(const Completion& done);

    DmabufQueue queue_;

private:
    std::int64_t ended_ns_ = 0;
};

} // namespace iio_stream::iio
