// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// Whether to read `target` as a WAV file: by its suffix, or because it begins with RIFF or RF64,
/// whatever its suffix. False for a SigMF name, for pipes and devices.
bool is_wav(const FileTarget& target);

/// The settings of a raw source that reads the samples of a WAV file, with everything its header
/// says about them. Takes format= channel_names= rate= frequency= datetime= loop= engine=
/// depth= direct=. Throws: a storage
/// Error for a header that cannot be read, a usage Error for a format= that the header contradicts.
SourceSettings settings_of_wav(Uri& uri, FileTarget target);

/// Reads integers of 24 bits, through the page cache: they become the upper bits of 32, so that
/// full scale stays full scale. `file` is regular and has ranges of whole samples.
std::unique_ptr<Input> make_packed24_input(const OpenInput& file, std::size_t blocks);

} // namespace iio_stream::file
