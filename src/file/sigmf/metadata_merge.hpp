// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// Like write_outcome(), for metadata that may have been edited since. Other programs' captures and
/// annotations stay as far as the file has their samples.
void merge_into_edited(Json& metadata, const Outcome& outcome);

/// Captures of a file of that many samples: those that are there, `theirs`, and our own. Where both
/// begin at one sample, or ours is within one of theirs, the values of theirs are kept, except the
/// index in the stream, which is ours, and the time of another sample.
Json merged_captures(const Json& theirs, const Json& ours, std::uint64_t samples);
/// The same of annotations, each of which stays one.
Json merged_annotations(const Json& theirs, const Json& ours, std::uint64_t samples);

} // namespace iio_stream::file
