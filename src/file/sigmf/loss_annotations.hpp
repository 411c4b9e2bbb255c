// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// The annotations of the losses and filled zeros in a file, in the order of their samples.
Json loss_annotations(const Outcome& outcome);

/// The captures of a file: `first`, and one where the samples after each loss certainly start, with
/// their index in the stream.
Json captures_after_losses(const Json& first, const Outcome& outcome);

} // namespace iio_stream::file
