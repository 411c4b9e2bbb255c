// SPDX-License-Identifier: MIT
#pragma once

#include "core/format/pattern.hpp"
#include "core/loss/sample_tracker.hpp"
#include "core/memory/fill_request.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/event.hpp"

namespace iio_stream::sim {

/// The options of "sim:".
struct Settings {
    detail::Pattern pattern = detail::Pattern::ramp;
    Format format; ///< sample_rate 0: as fast as samples are read
    double frequency = 0;
    std::uint64_t seed = 1;
    std::uint64_t drop_at = kUnknown, drop = 0; ///< `drop` samples are lost at sample `drop_at`
    std::uint64_t stall_at = kUnknown;          ///< sample at which the source pauses
    std::int64_t stall_ns = 0;                  ///< length of that pause, whose samples are lost
    std::uint64_t unplug_at = kUnknown;         ///< sample at which the device disappears (ENODEV)
    bool silent = false; ///< do not report losses, to test other loss detectors

    static Settings from(Options& options);
};

/// A simulated ADC without a FIFO, paced by CLOCK_MONOTONIC. A sample that arrives while no block
/// is queued is lost and counted. The pattern follows the device's own sample index, so it shows
/// each loss. Owns: a timer; borrows nothing. Thread: as documented for Source.
class SimSource final : public Source {
public:
    explicit SimSource(Settings settings);

    Fault fault() const noexcept override { return Fault::device; }
    const Format& format() const noexcept override { return settings_.format; }
    bool live() const noexcept override { return settings_.format.sample_rate > 0; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override;
    Taken take() override;
    bool flush() override { return flushing_ = live(); }
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    SourceStats stats() const override { return {.evidence = {Evidence::counter}, .trailing = {}}; }

private:
    std::int64_t time_of(std::uint64_t sample) const noexcept;
    void schedule();
    void lose(std::uint64_t at_offset, std::uint64_t samples);
    void run_faults(std::uint64_t samples);
    void fill(std::span<std::byte> out);
    std::size_t bytes_wanted(std::int64_t now_ns) const;

    Settings settings_;
    detail::Generator generator_;
    detail::SampleTracker tracker_;
    detail::FillQueue queue_;
    sys::Timer timer_;
    bool running_ = false, dropped_ = false, stalled_ = false, unplugged_ = false;
    bool flushing_ = false; ///< the front block is handed out even if it is not full
    std::int64_t start_ns_ = 0;
    std::int64_t due_ns_ = 0;  ///< time at which the front block is full; 0: at once
    std::int64_t part_ns_ = 0; ///< time at which it is handed out although not full; 0: never
    std::uint64_t sample_ = 0; ///< device's index of the front block's first sample
    /// A loss in the front block: samples before it, samples lost.
    std::uint64_t jump_after_ = 0, jump_ = 0;
};

} // namespace iio_stream::sim
