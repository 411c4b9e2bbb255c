// SPDX-License-Identifier: MIT
#pragma once

#include "file/direct_output.hpp"
#include "file/io_way.hpp"
#include "file/journal.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/unique_fd.hpp"

#include <optional>

namespace iio_stream::file {

/// What a file was asked to be.
struct SinkSettings : IoSettings {
    std::string path;
    bool overwrite = false;
    std::optional<std::uint64_t> preallocate; ///< bytes at a time; 0 = none
    bool sync_at_end = false;
    std::uint64_t sync_every = 0; ///< bytes; 0 = not
    bool journal = false;         ///< also where the file is never longer than valid

    static SinkSettings from(Uri& uri);
};

/// Writes samples as they are to a file, a pipe or a device.
/// Owns: the file; a failure leaves it with the whole samples that reached it.
class FileSink final : public Sink {
public:
    explicit FileSink(SinkSettings settings) : settings_(std::move(settings)) {}

    Fault fault() const noexcept override { return Fault::storage; }
    bool may_block() const noexcept override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return output_ && output_->ready(); }
    void submit(Filled filled) override;
    void service() override;
    Wait wait() override { return output_ ? output_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return output_ ? output_->pending() : 0; }
    void stop(Stop how) override;

private:
    const Way& way() const;
    std::string why_staged(const MemoryTraits& traits) const;
    void open(std::int64_t timeout_ns);
    void check_room(std::uint64_t bytes) const;
    DirectSettings direct_settings(const StreamInfo& stream, const BlockPool& pool) const;
    void end_file(Stop how);
    void keep_whole_samples() const noexcept;
    void close(Stop how);

    SinkSettings settings_;
    mutable std::optional<Way> way_; ///< found out by the first plan()
    sys::UniqueFd fd_;
    bool created_ = false, regular_ = false;
    std::size_t sample_bytes_ = 1;
    std::unique_ptr<Output> output_;
    std::optional<Journal> journal_;
};

} // namespace iio_stream::file
