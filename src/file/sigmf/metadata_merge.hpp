// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// Like write_outcome(), for metadata that may have been edited since they were written. Keeps the
/// captures and annotations of other programs for the samples that the file has.
void merge_into_edited(Json& metadata, const Outcome& outcome);

/// Merges the existing captures, `theirs`, with our own, for a file of `samples` samples. Where
/// both begin at the same sample, or one of ours begins within one of theirs, the values of
/// `theirs` are kept. The index in the stream is always ours, and a time is kept only for the
/// sample to which it belongs.
Json merged_captures(const Json& theirs, const Json& ours, std::uint64_t samples);
/// Merges annotations. No two of them are joined.
Json merged_annotations(const Json& theirs, const Json& ours, std::uint64_t samples);

} // namespace iio_stream::file
