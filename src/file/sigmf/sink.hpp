// SPDX-License-Identifier: MIT
#pragma once

#include "file/part.hpp"
#include "file/sigmf/losses.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/names.hpp"
#include "file/sigmf/tuning_log.hpp"
#include "file/sink.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::file {

enum class HashAt { off, end };

struct SigmfSettings {
    Pair files;
    bool overwrite = false;
    HashAt hash = HashAt::off;
    std::string hostname; ///< "" = left out
    Pair series = {};     ///< the names without a number, if it is one of several parts
    std::size_t number = 0;

    /// Takes hash= and hostname=.
    static SigmfSettings from(Options& options, const std::string& path, bool overwrite);
};

/// A SigMF recording: another sink writes the data file, this one the metadata next to it, before
/// the first sample and again after the last. In between it only notes losses.
/// Owns: the sink of the data file. Blocks and threads: like that one; with hash=end it blocks.
class SigmfSink final : public Part {
public:
    SigmfSink(SigmfSettings settings, std::unique_ptr<FileSink> data);

    std::unique_ptr<Part> sibling(std::size_t number) const override;
    void follow(Part& before) override;
    std::optional<Begin> begin_with(const Block& first) override;
    void announce(const Begin& begin) override;
    void publish_begin() override;
    void tell_late(const Late& late) override;
    LateTeller late_teller() const override;
    void close(Stop how) override;
    void seal() override;
    bool whole() const noexcept override { return data_->whole(); }
    std::vector<std::string> files() const override
    {
        return {settings_.files.meta, settings_.files.data};
    }

    bool may_block() const noexcept override
    {
        return settings_.hash == HashAt::end || data_->may_block();
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return data_->plan(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    bool ready() const noexcept override { return data_->ready(); }
    void submit(Block filled) override;
    void trailing(std::span<const Gap> gaps) override { log_.trailing(gaps); }
    void retuned(const Retuning& last) override { tunings_.retuned(last); }
    void dropped(std::uint64_t samples) override { log_.dropped(samples); }
    void service() override { data_->service(); }
    Wait wait() override { return data_->wait(); }
    std::size_t pending() const noexcept override { return data_->pending(); }
    std::uint64_t progress() const noexcept override { return *hashed_; }
    std::uint64_t room() const noexcept override { return data_->room(); }
    std::optional<std::uint64_t> stored() const noexcept override { return data_->stored(); }
    void broken_by(const Error& error) override { broken_by_ = error.what(); }
    std::string report() const override;

private:
    using Counter = std::shared_ptr<std::atomic<std::uint64_t>>;

    void note(const Block& filled);
    void tell_begin() noexcept;
    void tell_so_far() noexcept;
    Outcome outcome() const;
    bool has_data() const;
    void remove_files() const noexcept;
    void conclude(bool whole);

    SigmfSettings settings_;
    std::unique_ptr<FileSink> data_;
    Json metadata_;
    std::size_t sample_bytes_ = 1;
    int cancel_ = -1;
    bool open_ = false;     ///< the files are ours
    bool complete_ = false; ///< and ended as intended
    LossLog log_;
    TuningLog tunings_;
    bool noted_ = false; ///< the first block, by begin_with()
    Outcome opening_;    ///< for publish_begin()
    std::string sha512_;
    std::string broken_by_; ///< why the stream ended that did; "" = as intended
    Counter hashed_ = std::make_shared<std::atomic<std::uint64_t>>(0); ///< bytes, of all siblings
};

} // namespace iio_stream::file
