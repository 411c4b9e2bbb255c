// SPDX-License-Identifier: MIT
#pragma once

#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio/playback/cycle.hpp"
#include "iio_stream/endpoint.hpp"

#include <atomic>

namespace iio_stream::iio {

/// Values of `cyclic=`. `on` means hardware if the hardware can repeat the samples, otherwise
/// software.
enum class Cyclic { off, on, hardware, software };

/// The counters behind PlaybackStats. Any thread may read them during playback.
struct PlaybackCounts {
    std::atomic<Repeating> repeating{Repeating::no};
    /// Start and end of the repetition by hardware; 0 = not yet.
    std::atomic<std::int64_t> since_ns{0}, until_ns{0};
    std::atomic<std::uint64_t> round_samples{0}; ///< samples that are repeated
    std::atomic<std::uint64_t> underflows{0}, repeats{0}, unverified{0};
    std::atomic<std::uint64_t> moves{0}; ///< signs of progress; with DMABUFs: blocks played
    std::atomic<std::uint64_t> given{0}; ///< blocks given to the device
    std::atomic<bool> begun{false};      ///< the first block was played

    std::uint64_t repeats_at(double rate) const noexcept;
};

/// The open buffer and the settings that all ways of playing share.
struct PlaybackContext {
    BufferDir& dir;
    const BufferFile& file;
    const Format& format;
    const std::string& name;
    PlaybackCounts& counts;
    Cyclic cyclic = Cyclic::off;
    double rate = 0; ///< samples per second; 0 = unknown
};

/// A way to get samples into a local buffer: by DMABUFs, by mapped blocks of the kernel, or by
/// write(). Thread: as for the functions of Sink with the same names.
class Playback {
public:
    virtual ~Playback() = default;
    virtual bool may_block() const noexcept = 0;
    virtual bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel,
                         std::string& why) = 0;
    virtual void submit(Block filled) = 0;
    virtual void service() = 0;
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    virtual void flush() = 0;
    virtual void drain() = 0; ///< waits until the device has played everything
    virtual void close() noexcept = 0;
    /// Whether the device has samples to play and has not run empty during a read of the underflow
    /// register, apart from underflows that are counted already. Thread: any, after counts.begun is
    /// set.
    virtual bool is_supplied() const = 0;
    /// Facts about this hop that became known during playback, for the route.
    const std::string& remark() const noexcept { return remark_; }

protected:
    explicit Playback(const PlaybackContext& context) : context_(context) {}

    void enable();
    void note_enabled() noexcept; ///< the device runs from now on
    void reset(const StreamInfo& stream, BlockPool& pool, int cancel);
    /// Sets prefill_ and patience_ns_ for a queue of `blocks` blocks of `bytes` bytes each.
    void plan_prefill(const StreamInfo& stream, std::size_t blocks, std::size_t bytes) noexcept;
    static void count(std::atomic<std::uint64_t>& counter) noexcept
    {
        counter.fetch_add(1, std::memory_order_relaxed);
    }
    /// Call if nothing was played within the deadline. Throws an Error with the reason, as far as
    /// it can be known.
    [[noreturn]] void fail_late() const;
    [[noreturn]] void fail_ended(int error) const;

    PlaybackContext context_;
    Cycle cycle_;
    bool enabled_ = false;
    std::int64_t timeout_ns_ = 0, progress_ns_ = 0;
    int cancel_ = -1;
    std::string remark_;
    std::size_t prefill_ = 0;      ///< blocks to queue before the device is switched on
    std::int64_t patience_ns_ = 0; ///< how long to wait for the next of these blocks
};

std::unique_ptr<Playback> make_dmabuf_playback(const PlaybackContext& context);
std::unique_ptr<Playback> make_dmabuf_cycle(const PlaybackContext& context);
std::unique_ptr<Playback> make_mmap_playback(const PlaybackContext& context);
std::unique_ptr<Playback> make_fileio_playback(const PlaybackContext& context);

} // namespace iio_stream::iio
