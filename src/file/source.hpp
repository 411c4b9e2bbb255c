// SPDX-License-Identifier: MIT
#pragma once

#include "core/order.hpp"
#include "core/witness.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/unique_fd.hpp"

namespace iio_stream::file {

struct SourceSettings {
    std::string path;
    Format format;
    bool loop = false;
    Tuning tuning = {};
    std::vector<Gap> gaps = {}; ///< that the samples are known to have, by offset

    static SourceSettings from(Uri& uri);
};

/// Reads samples from a file, a pipe or a device, through the page cache; as fast as taken.
class RawSource final : public Source {
public:
    explicit RawSource(SourceSettings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::storage; }
    const Format& format() const noexcept override { return settings_.format; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override {}
    void stop() noexcept override;
    void submit(Block block, std::size_t bytes) override { queue_.push({std::move(block), bytes}); }
    Taken take() override;
    Wait wait() override;
    std::size_t pending() const noexcept override { return queue_.size(); }
    SourceStats stats() const override;
    Tuning tuning() const override { return settings_.tuning; }
    bool settle() override { return false; } // whoever writes into our pipe may take his time

private:
    bool read_more(detail::Order& empty);
    bool rewind();
    void tell_gaps(std::uint64_t samples);

    SourceSettings settings_;
    sys::UniqueFd fd_;
    bool regular_ = false, ended_ = false;
    std::size_t filled_ = 0; ///< bytes in the block at the front
    detail::Orders queue_;
    detail::Witness witness_;
    std::uint64_t length_ = 0;  ///< samples in the file
    std::uint64_t round_ = 0;   ///< position where this round of the file's gaps began
    std::size_t next_gap_ = 0;
};

} // namespace iio_stream::file
