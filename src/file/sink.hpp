// SPDX-License-Identifier: MIT
#pragma once

#include "file/direct_output.hpp"
#include "file/io_way.hpp"
#include "file/journal.hpp"
#include "file/part.hpp"
#include "file/rotation.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/unique_fd.hpp"

#include <atomic>
#include <optional>

namespace iio_stream::file {

/// How to create the file.
struct SinkSettings : IoSettings {
    std::string path;
    bool overwrite = false;
    std::optional<std::uint64_t> preallocate; ///< bytes at a time; 0 = none
    bool sync_at_end = false;
    std::uint64_t sync_every = 0; ///< bytes; 0 = never
    bool journal = false;         ///< also if the file is never longer than its valid part
    std::string series = {};      ///< the name without a number, if it is one of several parts
    std::size_t number = 0;

    static SinkSettings from(Uri& uri);
};

/// Writes samples as they are to a file, a pipe or a device.
/// Owns: the file; a failure leaves it with the whole samples that reached it.
class FileSink final : public Part {
public:
    explicit FileSink(SinkSettings settings) : settings_(std::move(settings)) {}

    std::unique_ptr<FileSink> another(std::size_t number) const; ///< sibling(), by its own type
    std::unique_ptr<Part> sibling(std::size_t number) const override { return another(number); }
    void follow(Part&) override {}
    bool whole() const noexcept override { return whole_; }
    std::vector<std::string> files() const override { return {settings_.path}; }
    /// For the journal: a loss in the samples that follow, by its place in the file.
    void tell(const Loss& loss) noexcept;
    /// A loss after this sample may become known late.
    void tell_settled(std::uint64_t samples) noexcept;
    /// Empty if the file has none.
    std::optional<Journal>& journal() noexcept { return journal_; }
    /// Whether the file is this sink's: it is open, and not another recording's.
    bool is_open() const noexcept { return fd_.valid(); }

    bool may_block() const noexcept override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return output_ && output_->ready(); }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return output_ ? output_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return output_ ? output_->pending() : 0; }
    std::uint64_t room() const noexcept override;
    std::optional<std::uint64_t> stored() const noexcept override { return stored_; }
    void close(Stop how) override;

private:
    const Way& way() const;
    void open(std::int64_t timeout_ns);
    void create(int flags);
    void lock();
    void refuse_other_samples(const Format& format) const;
    DirectSettings direct_settings(const StreamInfo& stream, const BlockPool& pool) const;
    void end_file(Stop how);
    void keep_whole_samples() const noexcept;
    void close_file(Stop how);

    SinkSettings settings_;
    mutable std::optional<Way> way_; ///< determined by the first plan()
    sys::UniqueFd fd_;
    std::atomic<bool> created_{false}; ///< for room()
    bool regular_ = false, whole_ = false;
    std::atomic<std::uint64_t> given_{0}; ///< bytes
    std::optional<std::uint64_t> stored_; ///< bytes, after it is closed
    std::size_t sample_bytes_ = 1;
    std::unique_ptr<Output> output_;
    std::optional<Journal> journal_;
};

} // namespace iio_stream::file
