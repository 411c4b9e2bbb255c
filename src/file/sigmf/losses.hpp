// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/late.hpp"
#include "file/sigmf/metadata.hpp"
#include "iio_stream/block.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace iio_stream::file {

/// Takes note of where a data file begins in the stream, and of what was lost on its way there.
/// Allocates in begin() only.
class LossLog {
public:
    /// Hears of each loss as it is noted.
    void listen(std::function<void(const Loss&)> listener) { listener_ = std::move(listener); }

    /// For a file that begins a stream; `dated`: the blocks' time is that of their samples;
    /// `filled`: zeros come in the place of what is lost.
    void begin(std::size_t sample_bytes, double rate, bool dated, bool filled);
    /// From the next block on; 0 = unknown.
    void set_rate(double rate) noexcept { rate_ = rate; }
    /// For one that goes on behind `before`, to which nothing is added any more. After begin().
    void follow(LossLog& before);

    /// The samples of a block, the next ones in the file. The loss in it, or before it, if it is
    /// new.
    void note(const Block& filled);

    /// One that became known when the file's last block had long been noted.
    void tell_late(const Gap& gap) { add_late(outcome_, stretch(), samples_, gap); }
    Stretch stretch() const;

    /// Losses that became known behind the last block.
    void trailing(std::span<const Gap> gaps);

    /// So many samples were dropped behind the last block.
    void dropped(std::uint64_t samples);

    std::uint64_t samples() const noexcept { return samples_; }
    /// Losses before that sample of the file have been noted; those behind it may come to be known
    /// late.
    std::uint64_t settled() const noexcept { return settled_; }
    /// Of the file as long as it is now; what is not known yet of its end is for the caller.
    const Outcome& outcome() const noexcept { return outcome_; }

private:
    void note_gap(const Gap& gap, std::uint64_t position, std::int64_t utc_ns);
    void note_hidden(const Block& filled, std::uint64_t dropped);
    void note_zeros(const Block& filled);
    void note_begin_utc(const Block& filled);
    void begin_at(const Block& filled, std::uint64_t dropped, bool first);
    std::uint64_t dropped_before(const Block& filled) const noexcept;
    static Gap left_of(const Gap& gap) noexcept;
    static bool is_zeros(const Block& filled) noexcept;
    static bool has_doubt(const Block& filled) noexcept; ///< of its own gaps
    void note_settled(std::uint64_t position);
    void add(const Loss& loss);
    bool is_cut(const Block& filled) const noexcept;
    std::int64_t ns_between(std::uint64_t index, std::uint64_t later) const noexcept;
    std::int64_t utc_of(const Block& filled, std::uint64_t sample) const;

    std::size_t sample_bytes_ = 1;
    double rate_ = 0;
    bool dated_ = false;
    bool filled_ = false;
    bool exact_ = true;                ///< the index of the last block
    bool begun_ = false;               ///< a block has come
    std::uint64_t start_ = 0;          ///< position in the stream of the file's first sample
    std::uint64_t samples_ = 0;        ///< in the file
    std::uint64_t expected_ = 0;       ///< position of the block that follows
    std::uint64_t expected_index_ = 0; ///< and its sample_index()
    std::uint64_t dated_index_ = 0;    ///< a sample behind the last block whose time is known …
    std::int64_t dated_ns_ = 0;        ///< … and when it was taken (UTC); 0 = unknown
    std::uint64_t settled_ = 0;
    std::uint64_t open_zeros_ = 0;     ///< zeros that are not settled …
    std::uint64_t open_zeros_end_ = 0; ///< … until this position in the stream is
    std::uint64_t begin_index_ = 0;    ///< index of the file's first sample
    Outcome outcome_;
    std::function<void(const Loss&)> listener_;
};

} // namespace iio_stream::file
