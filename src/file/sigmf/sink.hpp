// SPDX-License-Identifier: MIT
#pragma once

#include "file/parts/part.hpp"
#include "file/sigmf/copied_metadata.hpp"
#include "file/sigmf/file_pair.hpp"
#include "file/sigmf/loss_log.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/tuning_log.hpp"
#include "file/sink.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iio_stream::file {

enum class HashAt { off, end };

struct SigmfSettings {
    Pair files;
    bool overwrite = false;
    HashAt hash = HashAt::off;
    std::string hostname;                                        ///< "" = left out
    std::vector<std::pair<std::string, std::string>> texts = {}; ///< keys of "global" and values
    StatedFacts facts = {};
    Pair series = {}; ///< names without a number, if the files are a part of a series
    std::size_t number = 0;

    /// Takes the options hash=, hostname=, description=, author= and license=.
    static SigmfSettings from(Options& options, const std::string& path, bool overwrite);
};

/// A SigMF recording. Another sink writes the data file. This sink writes the metadata next to it,
/// before the first sample and again after the last one. In between it only notes losses.
/// Owns the sink of the data file. Blocking and threads are as for that sink; with hash=end, seal()
/// also blocks.
class SigmfSink final : public Part {
public:
    SigmfSink(SigmfSettings settings, std::unique_ptr<FileSink> data);

    std::unique_ptr<Part> sibling(std::size_t number) const override;
    void follow(Part& before) override;
    std::optional<PartStart> start_with(const Block& first) override;
    void announce(const PartStart& start) override;
    void publish_start() override;
    void apply_late_report(const LateReport& late) override;
    LateReportHandler late_report_handler() const override;
    void end_with(const StreamEnd& end) override;
    void close(Stop how) override;
    void seal() override;
    bool whole() const noexcept override { return data_->whole(); }
    std::vector<std::string> files() const override
    {
        return {settings_.files.meta, settings_.files.data};
    }

    SinkTraits traits() const noexcept override { return data_->traits(); }
    Conversion conversion_of(const Format& format) const override
    {
        return conversion_to_datatype(format);
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return data_->plan(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override;
    bool ready() const noexcept override { return data_->ready(); }
    void submit(Block filled) override;
    void service() override { data_->service(); }
    Wait wait() override { return data_->wait(); }
    std::size_t pending() const noexcept override { return data_->pending(); }
    std::uint64_t progress() const noexcept override { return *hashed_; }
    std::uint64_t free_space_left() const noexcept override { return data_->free_space_left(); }
    std::optional<std::uint64_t> stored() const noexcept override { return data_->stored(); }
    SinkResult result() const override;

private:
    using Counter = std::shared_ptr<std::atomic<std::uint64_t>>;

    void note(const Block& filled);
    void record_start() noexcept;
    PartStart part_start() const;
    void publish_so_far() noexcept;
    Outcome outcome() const;
    void write_outcome(Json& metadata, const Outcome& outcome) const;
    void publish_new(std::int64_t timeout_ns);
    bool has_to_hash() const noexcept;
    void add_hash();
    bool has_data() const;
    void remove_files() const noexcept;
    void finish_metadata(bool whole);

    SigmfSettings settings_;
    std::unique_ptr<FileSink> data_;
    Json metadata_;
    std::shared_ptr<const CopiedMetadata> original_; ///< set if the samples come from a recording
    std::size_t sample_bytes_ = 1;
    int cancel_ = -1;
    bool open_ = false;          ///< the files belong to this sink …
    bool started_ = false;       ///< … and have replaced older files
    bool complete_ = false;      ///< … and the recording ended as intended
    bool detects_losses_ = true; ///< StreamInfo::detects_losses
    LossLog log_;
    TuningLog tunings_;
    bool noted_ = false;                 ///< start_with() has noted the first block
    Outcome opening_;                    ///< for publish_start()
    std::uint64_t opening_position_ = 0; ///< position of the first sample in the stream
    /// The index of the first zero, if the file begins with zeros in place of lost samples.
    std::optional<std::uint64_t> opening_zeros_from_;
    std::string sha512_;
    std::string stream_error_; ///< the error that ended the stream; "" = it ended as intended
    Counter hashed_ = std::make_shared<std::atomic<std::uint64_t>>(0); ///< bytes of all siblings
};

} // namespace iio_stream::file
