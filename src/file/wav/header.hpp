// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// The content of a WAV file's header. Sources of the format: the Multimedia Programming Interface
/// 1.0 (RIFF), EBU Tech 3306 (RF64) and SpectraVue's manual (the chunk "auxi", which SDR#, HDSDR
/// and SDRuno write too).
struct WavHeader {
    /// Format of the samples as delivered: "ci16_le" for two channels, otherwise "ri16_le".
    Format format;
    /// The file stores 24-bit values. They are delivered as the upper bits of 32-bit values.
    bool packed24 = false;
    std::uint64_t begin = 0, end = 0; ///< the samples are the bytes [begin, end) of the file
    std::uint64_t file_bytes = 0;
    std::optional<double> frequency;    ///< Hz, from "auxi"
    std::optional<std::int64_t> utc_ns; ///< time of the first sample, from "auxi"
    bool has_length = true;             ///< the header states where the samples end
    std::string remark;                 ///< set if the header has no length

    std::uint64_t samples() const noexcept;
};

/// Whether `path` is a regular file that begins with the identifier of a RIFF file: RIFF, RF64,
/// BW64 or RIFX. False if the file cannot be read.
bool begins_with_riff(const std::string& path) noexcept;
/// Like the function above, for an open file at its current position.
bool begins_with_riff(int fd) noexcept;

/// Reads the header of a WAV file. Throws a storage Error if the file is not a WAV file, is
/// truncated, or has values that are not supported (compressed or big-endian values).
WavHeader read_wav_header(const std::string& path);

} // namespace iio_stream::file
