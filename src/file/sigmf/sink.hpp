// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"
#include "file/sigmf/names.hpp"
#include "iio_stream/endpoint.hpp"

#include <atomic>
#include <memory>

namespace iio_stream::file {

enum class HashAt { off, end };

struct SigmfSettings {
    Pair files;
    bool overwrite = false;
    HashAt hash = HashAt::off;
    std::string hostname; ///< "" = it is not told

    /// Takes hash= and hostname=.
    static SigmfSettings from(Options& options, const std::string& path, bool overwrite);
};

/// A SigMF recording: another sink writes its data file, this one the metadata beside it, before
/// the first sample and again behind the last. Between the two it only takes note of losses.
/// Owns: the sink of the data file. Blocks and threads: as that one; with hash=end it blocks.
class SigmfSink final : public Sink {
public:
    SigmfSink(SigmfSettings settings, std::unique_ptr<Sink> data);

    Fault fault() const noexcept override { return Fault::storage; }
    bool may_block() const noexcept override
    {
        return settings_.hash == HashAt::end || data_->may_block();
    }
    std::optional<Hop> plan(const MemoryTraits& traits, std::string& why) const override
    {
        return data_->plan(traits, why);
    }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void start() override { data_->start(); }
    bool ready() const noexcept override { return data_->ready(); }
    void submit(Filled filled) override;
    void trailing(std::span<const Gap> gaps) override;
    void service() override { data_->service(); }
    Wait wait() override { return data_->wait(); }
    std::size_t pending() const noexcept override { return data_->pending(); }
    void flush() override { data_->flush(); }
    std::uint64_t progress() const noexcept override { return hashed_ + data_->progress(); }
    void stop(Stop how) override;
    bool drops_when_full() const noexcept override { return data_->drops_when_full(); }
    std::string report() const override;

private:
    void note(const Filled& filled);
    void note_gap(const Gap& gap, std::uint64_t position, std::int64_t utc_ns);
    void note_zeros(std::uint64_t samples);
    void add(const Loss& loss);
    std::int64_t utc_of(const Filled& filled, std::uint64_t sample) const;
    void tell_losses() noexcept;
    bool has_data() const;
    void remove_files() const noexcept;
    void conclude(bool whole);
    void hash();

    SigmfSettings settings_;
    std::unique_ptr<Sink> data_;
    Json metadata_;
    std::size_t sample_bytes_ = 1;
    double rate_ = 0;
    int cancel_ = -1;
    bool open_ = false;           ///< the files are ours
    bool begun_ = false;          ///< a block of the source has come
    std::uint64_t samples_ = 0;   ///< given to data_
    std::uint64_t expected_ = 0;  ///< position of the block that follows
    std::uint64_t unmatched_ = 0; ///< zeros whose gap has not been told yet
    Outcome outcome_;
    std::string sha512_;
    std::atomic<std::uint64_t> hashed_{0};
};

} // namespace iio_stream::file
