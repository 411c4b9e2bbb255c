// SPDX-License-Identifier: MIT
#pragma once

#include "file/file_lock.hpp"
#include "file/file_names.hpp"
#include "file/io/direct_output.hpp"
#include "file/io/io_plan.hpp"
#include "file/journal/journal.hpp"
#include "file/parts/part.hpp"
#include "file/parts/rotation.hpp"
#include "file/stated_facts.hpp"
#include "file/wav/output_header.hpp"
#include "iio_stream/endpoint.hpp"
#include "sys/unique_fd.hpp"

#include <atomic>
#include <optional>

namespace iio_stream::file {

/// Settings for the file to create.
struct SinkSettings : IoSettings {
    FileTarget target;
    bool overwrite = false;
    StatedFacts facts = {};                   ///< for the header of a WAV file
    std::optional<std::uint64_t> preallocate; ///< bytes to reserve at a time; 0 = none, empty =
                                              ///< automatic
    bool sync_at_end = true;
    std::uint64_t sync_every = 0; ///< bytes; 0 = never
    bool journal = false;         ///< keep a journal even if the file is never longer than its
                                  ///< valid part
    std::string series = {};      ///< name without a number, if the file is a part of a series
    std::size_t number = 0;

    static SinkSettings from(Options& options, FileTarget target);
};

/// Writes samples unchanged to a file, a pipe or a device. Owns the file. After a failure, the file
/// holds the whole samples that have reached it.
class FileSink final : public Part {
public:
    explicit FileSink(SinkSettings settings) : settings_(std::move(settings)) {}

    std::unique_ptr<FileSink> another(std::size_t number) const; ///< a sibling() of this type
    std::unique_ptr<Part> sibling(std::size_t number) const override { return another(number); }
    void follow(Part& before) override;
    std::optional<PartStart> start_with(const Block& first) override;
    void announce(const PartStart& start) override;
    bool whole() const noexcept override { return whole_; }
    std::vector<std::string> files() const override { return {settings_.target.path}; }
    /// Adds a loss to the journal, with its place in the file. It is among the samples that follow.
    void record_loss(const Loss& loss) noexcept;
    /// Declares that all losses before this sample are known. Later losses may still be reported.
    void set_losses_final_before(std::uint64_t samples) noexcept;
    /// Bytes of samples that were submitted to the previous part.
    std::uint64_t bytes_before() const noexcept { return bytes_before_; }
    /// The journal; empty if the file has none.
    std::optional<Journal>& journal() noexcept { return journal_; }
    /// Whether this sink has opened the file. If so, the file does not belong to another recording.
    bool is_open() const noexcept { return fd_.valid(); }
    /// Opens or creates the file and locks it. If claim() has not been called, prepare() does this.
    void claim(std::int64_t timeout_ns);
    /// Like close(), but the file stays locked until release_lock(), and an empty file is not
    /// removed. This is for a recording that also has metadata.
    void close_locked(Stop how) { close_and_keep(how, IfEmpty::kept); }
    void release_lock() noexcept;

    SinkTraits traits() const noexcept override;
    Conversion conversion_of(const Format& format) const override;
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override;
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool ready() const noexcept override { return output_ && output_->ready(); }
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return output_ ? output_->wait() : Wait{}; }
    std::size_t pending() const noexcept override { return output_ ? output_->pending() : 0; }
    std::uint64_t free_space_left() const noexcept override;
    std::optional<std::uint64_t> stored() const noexcept override { return stored_; }
    void close(Stop how) override;

private:
    const FileIoPlan& io_plan() const;
    void open(std::int64_t timeout_ns);
    void create(int flags);
    LockedFile lock_or_refuse(int flags) const;
    void refuse_live_series() const;
    bool is_wav() const noexcept { return settings_.target.suffix.kind == FileKind::wav; }
    std::uint64_t header_bytes() const noexcept { return is_wav() ? kWavHeaderBytes : 0; }
    void begin_journal();
    void prepare_wav(StreamInfo stream);
    void note_what_is_not_kept(const StreamInfo& stream, std::string& why) const;
    void write_wav_header(std::optional<std::uint64_t> data_bytes) const;
    void refuse_other_samples(const Format& format) const;
    DirectSettings direct_settings(const StreamInfo& stream, const BlockPool& pool) const;
    enum class IfEmpty { kept, removed };
    void close_and_keep(Stop how, IfEmpty if_empty);
    void end_file(Stop how, IfEmpty if_empty);
    void keep_whole_samples() const noexcept;
    void close_file(Stop how);

    SinkSettings settings_;
    mutable std::optional<FileIoPlan> io_plan_; ///< determined by the first plan()
    sys::UniqueFd fd_;
    sys::UniqueFd lock_;               ///< holds the lock of a regular file until release_lock()
    std::atomic<bool> created_{false}; ///< for free_space_left()
    bool regular_ = false, whole_ = false;
    std::optional<std::uint64_t> old_bytes_; ///< size of the file that start() replaces
    std::atomic<std::uint64_t> given_{0};    ///< bytes
    std::uint64_t bytes_before_ = 0;
    std::optional<std::uint64_t> stored_; ///< bytes, set when the file is closed
    std::size_t sample_bytes_ = 1;
    WavFacts wav_; ///< for the header of a WAV file
    std::unique_ptr<Output> output_;
    std::optional<Journal> journal_;
};

} // namespace iio_stream::file
