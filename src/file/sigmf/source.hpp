// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// The settings of a raw source that reads the data file of a SigMF recording, or its place in an
/// archive, with everything the metadata say about it. Takes loop= format= rate= engine= depth=
/// direct=. What is wrong with the metadata is a warning, unless they do not say how to read the
/// samples.
/// Throws: a storage Error if they do not, or if the recording is incomplete.
SourceSettings settings_of_recording(Uri& uri);

} // namespace iio_stream::file
