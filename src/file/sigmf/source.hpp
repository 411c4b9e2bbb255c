// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// The settings of a raw source that reads the data file of a SigMF recording, with everything the
/// metadata say about it. Takes loop= engine= depth= direct=.
/// Throws: a storage Error if the recording is incomplete.
SourceSettings settings_of_recording(Uri& uri);

} // namespace iio_stream::file
