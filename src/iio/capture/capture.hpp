// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio/loss/counter.hpp"
#include "iio/loss/overflow_detector.hpp"
#include "iio/tuning/tuning_watch.hpp"
#include "iio_stream/endpoint.hpp"

#include <functional>
#include <string>

namespace iio_stream::iio {

/// The objects that all ways of capturing share: the open buffer and the detectors of its stream.
struct CaptureContext {
    BufferDir& dir;
    const BufferFile& file;
    const Format& format;
    detail::SampleTracker& tracker;
    OverflowDetector& overflow_detector;
    TuningWatch& tuning;
    Counter* counter; ///< exact evidence in the data; null if there is none

    /// Whether the queue and the overflow register count as evidence of losses.
    bool queue_is_evidence() const noexcept { return counter == nullptr || counter->may_repeat(); }
};

/// A way to get samples out of a local buffer: by DMABUFs, by mapped blocks of the kernel, or by
/// read(). An object serves one stream. Thread: as for the functions of Source with the same names.
class Capture {
public:
    virtual ~Capture() = default;
    virtual bool prepare(BlockPool& pool, std::string& why) = 0;
    virtual void start() = 0;
    virtual void stop() noexcept = 0;
    virtual void submit(EmptyBlock block, std::size_t bytes) = 0;
    virtual Taken take() = 0;
    void flush() noexcept { flushing_ = true; }
    virtual Wait wait() = 0;
    virtual std::size_t pending() const noexcept = 0;
    virtual bool on_timeout() = 0;
    /// Runs `task` while the device continues.
    virtual void run_meanwhile(const std::function<void()>& task) = 0;
    const SourceStats& stats() const noexcept { return stats_; }
    /// Facts about this hop that became known during the stream, for the route.
    const std::string& remark() const noexcept { return remark_; }

protected:
    explicit Capture(const CaptureContext& context) : context_(context) {}

    /// Call if the stream has ended unexpectedly. Throws an Error with the reason, as far as it can
    /// be known.
    [[noreturn]] void fail_ended() const;

    CaptureContext context_;
    SourceStats stats_;
    std::string remark_;
    bool flushing_ = false; ///< the stream ends: partly filled blocks are delivered, too
};

std::unique_ptr<Capture> make_dmabuf_capture(const CaptureContext& context);
/// `traits`: the traits of the blocks that prepare() will get.
std::unique_ptr<Capture> make_mmap_capture(const CaptureContext& context,
                                           const MemoryTraits& traits);
std::unique_ptr<Capture> make_fileio_capture(const CaptureContext& context);

} // namespace iio_stream::iio
