// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// The settings of a raw source that reads the samples of a SigMF recording from its data file or
/// from an archive, with all facts from the metadata. Takes the options loop=, format=, rate=,
/// engine=, depth= and direct=. Problems of the metadata become warnings. Throws a storage Error if
/// the metadata do not describe how to read the samples, or if the recording is incomplete.
SourceSettings settings_of_recording(Uri& uri);

} // namespace iio_stream::file
