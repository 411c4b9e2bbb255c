// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace iio_stream::file {

/// Range of stream positions stored in a file.
struct StreamRange {
    std::uint64_t begin = 0, end = 0; ///< positions in the stream
    bool contiguous = true;           ///< nothing was dropped or filled in
};

/// Adds a loss that became known late to the outcome of a file, if the loss might be before or
/// among the file's samples. Returns false if it is after them.
bool add_late_loss(Outcome& outcome, const StreamRange& range, std::uint64_t samples,
                   const Gap& gap);

/// Records where in the stream a data file begins, and the losses before and in it. Allocates only
/// in begin().
class LossLog {
public:
    /// Sets the function that is called with each loss as it is noted.
    void listen(std::function<void(const Loss&)> listener) { listener_ = std::move(listener); }

    /// Begins the first file of a stream. `dated`: the time of a block is the time of its samples;
    /// `filled`: zeros replace lost samples.
    void begin(std::size_t sample_bytes, double rate, bool dated, bool filled);
    /// Sets the index in the original stream of the sample at position 0, and whether it is exact.
    /// Call it after begin() if the samples come from a recording.
    void count_from(std::uint64_t index, bool exact) noexcept;
    /// Sets the sample rate from the next block on; 0 = unknown.
    void set_rate(double rate) noexcept { rate_ = rate; }
    /// Continues the file `before`, which gets no more samples. Call it after begin().
    void follow(LossLog& before);

    /// Notes a block, whose samples are next in the file. Records new losses in it or before it.
    void note(const Block& filled);

    /// Adds a loss that became known long after the file's last block.
    void apply_late_loss(const Gap& gap) { add_late_loss(outcome_, stream_range(), samples_, gap); }
    StreamRange stream_range() const;

    /// Adds losses that became known after the last block.
    void add_trailing_gaps(std::span<const Gap> gaps);

    /// Notes samples that were dropped after the last block.
    void add_trailing_drops(std::uint64_t samples);

    PartStart part_start() const;
    std::uint64_t samples() const noexcept { return samples_; }
    /// All losses before this sample of the file have been noted. Later losses may still be added.
    std::uint64_t losses_final_before() const noexcept { return losses_final_before_; }
    /// The outcome of the file at its current length. The caller adds the facts that depend on its
    /// end.
    const Outcome& outcome() const noexcept { return outcome_; }

private:
    void note_gap(const Gap& gap, std::uint64_t position);
    void date_losses(const Block& filled);
    void note_hidden(const Block& filled, std::uint64_t dropped);
    void note_zeros(const Block& filled);
    void note_begin_utc(const Block& filled);
    void begin_at(const Block& filled, std::uint64_t dropped, bool first);
    std::uint64_t dropped_before(const Block& filled) const noexcept;
    static Gap left_of(const Gap& gap) noexcept;
    static bool is_zeros(const Block& filled) noexcept;
    static bool has_doubt(const Block& filled) noexcept; ///< one of the block's gaps is not exact
    void note_losses_final(std::uint64_t position);
    void add(const Loss& loss);
    bool is_cut(const Block& filled) const noexcept;
    std::int64_t ns_between(std::uint64_t index, std::uint64_t later) const noexcept;
    std::int64_t utc_of(const Block& filled, std::int64_t sample) const;

    std::size_t sample_bytes_ = 1;
    double rate_ = 0;
    bool dated_ = false;
    bool filled_ = false;
    bool exact_ = true;                ///< the index of the last block is exact
    bool begun_ = false;               ///< the stream's first block has been noted
    std::uint64_t origin_ = 0;         ///< index of the sample at position 0
    std::uint64_t start_ = 0;          ///< position of the file's first sample in the stream
    std::uint64_t samples_ = 0;        ///< samples in the file
    std::uint64_t expected_ = 0;       ///< position of the next block
    std::uint64_t expected_index_ = 0; ///< sample_index() of the next block
    std::uint64_t dated_index_ = 0;    ///< a sample after the last block whose time is known …
    std::int64_t dated_ns_ = 0;        ///< … and when it was taken (UTC); 0 = unknown
    std::size_t undated_ = 0;          ///< losses that no sample has followed yet
    std::uint64_t losses_final_before_ = 0;
    std::uint64_t open_zeros_ = 0;     ///< zeros before which losses may still become known …
    std::uint64_t open_zeros_end_ = 0; ///< … until losses are final up to this position
    std::uint64_t begin_index_ = 0;    ///< index of the file's first sample
    Outcome outcome_;
    std::function<void(const Loss&)> listener_;
};

} // namespace iio_stream::file
