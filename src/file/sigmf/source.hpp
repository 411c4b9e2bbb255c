// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// The settings of a raw source that reads a SigMF recording's data file, with all that the
/// metadata tell of it. Takes loop= engine= depth= direct=. Throws: a storage Error where the
/// recording is not whole.
SourceSettings settings_of_recording(Uri& uri);

} // namespace iio_stream::file
