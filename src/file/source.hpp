// SPDX-License-Identifier: MIT
#pragma once

#include "core/sample_tracker.hpp"
#include "file/input.hpp"
#include "file/io_way.hpp"
#include "sys/unique_fd.hpp"

namespace iio_stream::file {

struct SourceSettings {
    std::string path;
    Format format;
    bool loop = false;
    IoSettings io = {};
    Tuning tuning = {};
    std::vector<Gap> gaps = {}; ///< gaps the samples are known to have, by offset
    std::uint64_t zeros = 0;    ///< in place of lost samples

    static SourceSettings from(Uri& uri);
};

/// Reads samples as they are from a file, a pipe or a device, as fast as they are taken. Regular
/// files are read past the page cache if possible.
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
    Wait wait() override { return input_ ? input_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return input_ ? input_->pending() : 0; }
    SourceStats stats() const override;
    Tuning tuning() const override { return settings_.tuning; }
    bool settle() override;

private:
    Way way(std::size_t block_size) const;
    void tell_gaps(std::uint64_t samples);

    SourceSettings settings_;
    mutable std::optional<Way> way_; ///< determined by the first plan()
    sys::UniqueFd fd_;
    std::unique_ptr<Input> input_; ///< destroyed before the file
    detail::SampleTracker tracker_;
    std::uint64_t length_ = 0; ///< samples in the file
    std::uint64_t round_ = 0;  ///< position where the current round of the file's gaps began
    std::size_t next_gap_ = 0;
    bool torn_ = false; ///< it ends in the middle of a sample
};

} // namespace iio_stream::file
