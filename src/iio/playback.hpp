// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer_dir.hpp"
#include "iio/buffer_file.hpp"
#include "iio/cycle.hpp"
#include "iio_stream/endpoint.hpp"

#include <atomic>

namespace iio_stream::iio {

/// PlaybackStats as they are counted; read from any thread.
struct PlaybackCounts {
    std::atomic<std::uint64_t> underflows{0}, repeats{0}, unverified{0};
    std::atomic<std::uint64_t> moves{0}; ///< signs of life; blocks that were played, by DMABUF
    std::atomic<std::uint64_t> given{0}; ///< blocks to be played, by DMABUF
};

/// What both ways of playing share: the open buffer.
struct PlaybackContext {
    BufferDir& dir;
    const BufferFile& file;
    const Format& format;
    const std::string& name;
    PlaybackCounts& counts;
    bool cyclic = false;
};

/// One way to get samples into a local buffer: DMABUF or write().
/// Thread: as Sink says of the functions of the same names.
class Playback {
public:
    virtual ~Playback() = default;
    virtual bool may_block() const noexcept = 0;
    virtual bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                         std::string& why) = 0;
    virtual void submit(Filled filled) = 0;
    virtual void service() = 0;
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    virtual void flush() = 0;
    virtual void drain() = 0; ///< what the device holds is played
    virtual void close() noexcept = 0;

protected:
    explicit Playback(const PlaybackContext& context) : context_(context) {}

    void enable();
    void reset(const StreamInfo& stream, BlockPool& pool, int cancel);
    static void count(std::atomic<std::uint64_t>& counter) noexcept
    {
        counter.fetch_add(1, std::memory_order_relaxed);
    }
    /// Nothing was played within the deadline: says why, as well as it can be known.
    [[noreturn]] void fail_late() const;
    [[noreturn]] void fail_ended(int error) const;

    PlaybackContext context_;
    Cycle cycle_;
    bool enabled_ = false;
    std::int64_t timeout_ns_ = 0, progress_ns_ = 0;
    int cancel_ = -1;
};

std::unique_ptr<Playback> make_dmabuf_playback(const PlaybackContext& context);
std::unique_ptr<Playback> make_fileio_playback(const PlaybackContext& context);

} // namespace iio_stream::iio
