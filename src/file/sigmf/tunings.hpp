// SPDX-License-Identifier: MIT
#pragma once

#include "file/sigmf/metadata.hpp"

namespace iio_stream::file {

/// Adds a capture where the radio was retuned; one without a value where that is unknown. The captures
/// must have everything else of `outcome` already.
void tell_tunings(Json& metadata, const Outcome& outcome);

/// Whether a capture's key is one that tell_tunings() writes.
bool is_of_tuning(const std::string& key);

/// An annotation for each of the samples between.
void annotate_tunings(Json& annotations, const Outcome& outcome);

} // namespace iio_stream::file
