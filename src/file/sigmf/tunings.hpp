// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// Adds a capture at each retuning, without the values that are unknown there. All other facts of
/// `outcome` must already be in the captures.
void write_tunings(Json& metadata, const Outcome& outcome);

/// Whether write_tunings() writes this key of a capture.
bool is_of_tuning(const std::string& key);

/// Adds an annotation for each range of samples in which the radio was retuned.
void annotate_tunings(Json& annotations, const Outcome& outcome);

} // namespace iio_stream::file
