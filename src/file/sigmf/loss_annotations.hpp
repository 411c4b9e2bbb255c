// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// The annotations of the losses and filled zeros in a file, in the order of their samples.
Json loss_annotations(const Outcome& outcome);

/// The captures of a file: `first`, and for each loss a capture at the first sample that is
/// certainly after the loss, with the index of that sample in the stream.
Json captures_after_losses(const Json& first, const Outcome& outcome);

} // namespace iio_stream::file
