// SPDX-License-Identifier: MIT
#pragma once

#include "core/memory/bounce.hpp"
#include "iio/capture/capture.hpp"
#include "iio/options.hpp"
#include "iio/tuning/tuner.hpp"
#include "iio/tuning/tuning_watch.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/fd_group.hpp"

#include <memory>
#include <optional>

namespace iio_stream::iio {

inline constexpr const char* kFileioAsked = "path=fileio was given";
/// A warning for users who force read() or write() on a kernel with legacy blocks.
inline constexpr const char* kFileioDanger =
    "path=fileio uses read() and write() on a kernel with legacy blocks: on Analog Devices' "
    "kernels before May 2026 this "
    "can corrupt memory or panic the machine, and older ones lose samples between any two blocks; "
    "without path= the "
    "kernel's own blocks are used";
/// Returns why `path` cannot use the kernel's own blocks; "" if it can.
std::string why_no_blocks(const BufferFile& file, Path path);

/// A local device's input buffer.
/// Owns: its files and attachments. Members are in order of construction; capture_, which ends the
/// DMA, is destroyed first.
class IioSource final : public Source, private SlowCheck {
public:
    IioSource(const Device& device, const BufferSettings& settings, Options& options);

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return format_; }
    bool live() const noexcept override { return true; }
    BlockNeeds needs() const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        capture_->submit(std::move(block), bytes);
    }
    Taken take() override { return capture_->take(); }
    bool flush() override
    {
        capture_->flush();
        return true;
    }
    Wait wait() override { return capture_->wait(); }
    std::size_t pending() const noexcept override { return capture_ ? capture_->pending() : 0; }
    bool on_timeout(std::optional<std::chrono::nanoseconds>) override
    {
        return capture_->on_timeout();
    }
    void ends_at(std::uint64_t position) noexcept override { overflow_detector_.ends_at(position); }
    SlowCheck* slow_check() noexcept override { return this; }
    std::chrono::nanoseconds check() override;
    int check_fd() const noexcept override { return check_requests_.fd(); }
    SourceStats stats() const override;
    std::string remark() const override;
    SourceInfo info() const override;

private:
    std::vector<Evidence> evidence() const;
    /// Chooses the path that fills blocks with these traits; nullopt if there is none, with the
    /// reason in `why`.
    std::optional<Path> choose_path(const MemoryTraits& traits, std::string& why) const;
    Hop hop_of(Path path, const MemoryTraits& traits) const;
    std::unique_ptr<Capture> make_capture(Path path, const MemoryTraits& traits);
    void read_settings();
    void begin_watching();
    void read_register_at_end() noexcept;

    std::string device_id_, name_;
    Path path_;
    BufferDir dir_;
    Tuning tuning_;
    std::string tuning_differs_; ///< settings that the hardware changed, for the route
    std::string rate_file_;      ///< attribute of format_.sample_rate; empty = none
    Format format_;
    std::size_t block_samples_ = 1;
    std::unique_ptr<Counter> counter_;
    bool dma_ = true;                ///< the device has a DMA buffer
    std::string dmabuf_refusal_;     ///< why this buffer takes no DMABUFs; empty if it takes them
    bool has_blocks_ = false;        ///< the kernel offers blocks of its own instead
    detail::MemoryRefusals refused_; ///< memories whose DMABUFs the buffer does not take
    BufferFile file_;
    detail::SampleTracker tracker_;
    RateWatch rates_;
    OverflowDetector overflow_detector_;
    std::optional<TuningWatch> watch_;
    bool is_watching_ = false;     ///< writes to the settings by other programs are noticed
    sys::FdGroup check_requests_;  ///< readable if register, rates or settings need a check
    std::int64_t register_ns_ = 0; ///< when the register's next check is due
    std::unique_ptr<Capture> capture_;
};

/// Makes the source for "iio:DEVICE", local or remote (uri=).
std::unique_ptr<Source> make_source(Uri& address);

} // namespace iio_stream::iio
