// SPDX-License-Identifier: MIT
#pragma once

#include "core/loss/sample_tracker.hpp"
#include "file/file_names.hpp"
#include "file/foreign_names.hpp"
#include "file/io/data_layout.hpp"
#include "file/io/input.hpp"
#include "file/io/io_plan.hpp"
#include "file/sigmf/timeline.hpp"
#include "sys/unique_fd.hpp"

#include <array>

namespace iio_stream::file {

struct SourceSettings {
    FileTarget target;
    Format format;
    DataLayout layout = {};
    bool loop = false;
    IoSettings io = {};
    bool packed24 = false;                   ///< the file stores only the upper 24 of each value's
                                             ///< 32 bits
    std::optional<std::int64_t> utc_ns = {}; ///< when the first sample was taken
    std::string remark = {};                 ///< how facts about the samples were determined, and
                                             ///< facts that a copy lacks
    Tuning tuning = {};
    std::vector<Gap> gaps = {}; ///< known gaps in the samples, by offset
    std::uint64_t zeros = 0;    ///< samples that are zeros in place of lost ones
    Timeline timeline = {};     ///< when the samples were taken; not set if the file loops
    std::shared_ptr<const std::string> metadata = {}; ///< metadata for a copy
    std::vector<std::string> warnings = {}; ///< shown to the user before the stream starts

    /// Settings for a file of raw samples.
    static SourceSettings from(Uri& uri, FileTarget target);
    /// Takes the options loop=, engine=, depth= and direct=.
    void take_reading(Options& options);
    /// Takes the options frequency= and datetime=. `named` supplies values that neither the options
    /// nor a header state.
    void take_circumstances(Options& options, const NamedFacts& named);
    /// Sets the timeline, and the metadata for a copy, if utc_ns is known and the file does not
    /// loop. Call it last.
    void describe_samples();
    /// Sets the layout of a file of `size` bytes whose samples are the bytes [begin, end).
    void set_place(std::uint64_t begin, std::uint64_t end, std::uint64_t size);
    std::uint64_t header_bytes() const noexcept; ///< bytes before the first sample
};

/// Throws a storage Error if a file of raw samples has a journal.
void refuse_unfinished_file(const std::string& path);

/// Reads samples unchanged from a file, a pipe or a device, as fast as the pipeline takes them.
/// Reading a regular file bypasses the page cache if possible.
class RawSource final : public Source {
public:
    explicit RawSource(SourceSettings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::storage; }
    const Format& format() const noexcept override { return settings_.format; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override {}
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        input_->submit(std::move(block), bytes);
    }
    Taken take() override;
    bool flush() override { return flushing_ = input_ && input_->flush(); }
    Wait wait() override { return input_ ? input_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return input_ ? input_->pending() : 0; }
    SourceStats stats() const override;
    SourceInfo info() const override
    {
        return {.tuning = settings_.tuning, .metadata = settings_.metadata};
    }
    bool on_timeout(std::optional<std::chrono::nanoseconds> chosen) override;

private:
    FileIoPlan io_plan(std::size_t block_size) const;
    std::uint64_t stored_bytes() const;
    OpenInput find_samples(bool regular, std::uint64_t size);
    void report_gaps(std::uint64_t samples);
    Time time_of_block(std::uint64_t samples) const noexcept;

    SourceSettings settings_;
    mutable std::optional<FileIoPlan> io_plan_; ///< determined by the first plan()
    sys::UniqueFd fd_;
    std::unique_ptr<Input> input_; ///< destroyed before the file
    detail::SampleTracker tracker_;
    std::uint64_t length_ = 0; ///< samples in the file
    std::uint64_t round_ = 0;  ///< position at which the current pass through a looping file began
    std::size_t next_gap_ = 0;
    /// For each kind of evidence, whether a gap with it has been reported.
    std::array<bool, static_cast<std::size_t>(Evidence::starvation) + 1> evidence_{};
    bool torn_ = false;     ///< the file ends in the middle of a sample
    bool flushing_ = false; ///< the stream ends before the file does
};

} // namespace iio_stream::file
