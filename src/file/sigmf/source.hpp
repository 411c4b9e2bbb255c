// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// The settings of a raw source that reads the data file of a SigMF recording, or its place in an
/// archive, with all facts from the metadata. Takes loop= format= rate= engine= depth= direct=.
/// Problems of the metadata become warnings. Throws a storage Error if the metadata do not describe
/// how to read the samples, or if the recording is incomplete.
SourceSettings settings_of_recording(Uri& uri);

} // namespace iio_stream::file
