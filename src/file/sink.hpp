// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "sys/unique_fd.hpp"

namespace iio_stream::file {

enum class Sync { none, end };

/// What a file was asked to be.
struct SinkSettings {
    std::string path;
    bool overwrite = false;
    Sync sync = Sync::none;

    static SinkSettings from(Uri& uri);
};

/// Writes samples as they are to a file, a pipe or a device, through the page cache.
/// Owns: the file; a failure leaves it with the whole samples that reached it.
class RawSink final : public Sink {
public:
    explicit RawSink(SinkSettings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::storage; }
    bool may_block() const noexcept override { return true; }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Filled filled) override;
    void stop(Stop how) override;

private:
    void open(std::int64_t timeout_ns);
    void keep_whole_samples(int fd) const noexcept;

    SinkSettings settings_;
    sys::UniqueFd fd_;
    bool regular_ = false;
    std::size_t sample_bytes_ = 1;
    std::size_t bytes_ = 0;
    int cancel_ = -1;
};

} // namespace iio_stream::file
