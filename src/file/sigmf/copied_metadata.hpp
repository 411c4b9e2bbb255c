// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/loss_log.hpp"
#include "file/sigmf/metadata.hpp"
#include "file/sigmf/timeline.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

class FilePlaces;

/// The metadata of a recording whose samples a stream copies into another recording. Captures,
/// annotations and the keys of `global` keep their values. Captures and annotations get the places
/// of their samples in the new file. Losses are not copied: the blocks report them.
/// Thread: any; the object does not change.
class CopiedMetadata {
public:
    /// nullptr if the samples do not come from a recording.
    static std::shared_ptr<const CopiedMetadata> from(const StreamInfo& stream);
    explicit CopiedMetadata(const std::string& text);

    /// Index in the original stream of the sample at position 0, not counting the losses right
    /// before it.
    std::uint64_t first_index() const noexcept { return first_index_; }
    bool first_exact() const noexcept { return first_exact_; }

    /// Adds to `metadata`, which describe() made, the keys of `global` that hold for the copy.
    void add_global(Json& metadata) const;
    /// Sets the first capture to the values of the sample at `position`, except for its index.
    /// `zeros_from`: the index of the first zero, if zeros in place of lost samples precede that
    /// sample.
    void set_first_capture(Json& metadata, std::uint64_t position,
                           std::optional<std::uint64_t> zeros_from) const;
    /// Like write_outcome(), for a file that has the samples of `range`. `is_last`: no other file
    /// follows it.
    void write_outcome(Json& metadata, const Outcome& outcome, const StreamRange& range,
                       bool is_last) const;
    /// The keys that do not hold for the copy, and the parts of the original that the copy lacks.
    /// `hashed`: the copy has a hash of its own.
    std::vector<std::string> not_kept(bool hashed) const;

private:
    Json capture_at(std::uint64_t position) const;
    Json capture_of_zeros(std::uint64_t index, std::uint64_t position) const;
    Json first_capture(std::uint64_t position, std::optional<std::uint64_t> zeros_from) const;
    Json captures_in(const StreamRange& range, const FilePlaces& places,
                     std::optional<std::uint64_t> zeros_from) const;
    Json annotations_in(const StreamRange& range, const FilePlaces& places, std::uint64_t samples,
                        bool is_last) const;
    std::uint64_t end_of_capture(std::uint64_t position) const;

    void keep_indexes_rising(std::vector<Gap> gaps);

    Json metadata_;
    std::optional<std::uint64_t> stepped_back_; ///< position of the first index that steps back
    bool ours_ = false; ///< iio-stream wrote the metadata: the blocks report the losses
    Timeline timeline_;
    std::uint64_t first_index_ = 0;
    bool first_exact_ = true;
};

} // namespace iio_stream::file
