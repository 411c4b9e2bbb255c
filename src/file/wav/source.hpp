// SPDX-License-Identifier: MIT
#pragma once

#include "file/source.hpp"

namespace iio_stream::file {

/// Whether to read `target` as a WAV file. True if it has a suffix of WAV files, or if it begins
/// with RIFF or RF64. False for a SigMF name, a pipe or a device.
bool is_wav(const FileTarget& target);

/// The settings of a raw source that reads the samples of a WAV file, with all facts from its
/// header. Takes format= channel_names= rate= frequency= datetime= loop= engine= depth= direct=.
/// Throws a storage Error if the header cannot be read, a usage Error if format= contradicts the
/// header.
SourceSettings settings_of_wav(Uri& uri, FileTarget target);

/// Reads 24-bit integers through the page cache. They become the upper bits of 32-bit integers, so
/// that full scale stays full scale. `file` is regular and has ranges of whole samples.
std::unique_ptr<Input> make_packed24_input(const OpenInput& file, std::size_t blocks);

} // namespace iio_stream::file
