// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// What the header of a WAV file says. Sources: the Multimedia Programming Interface 1.0 (RIFF),
/// EBU Tech 3306 (RF64) and SpectraVue's manual (the chunk "auxi", which SDR#, HDSDR and SDRuno
/// write too).
struct WavHeader {
    /// Of the samples as they are delivered: "ci16_le" for two channels, otherwise "ri16_le".
    Format format;
    /// The file holds 24 bits of each value, which are delivered as the upper ones of 32.
    bool packed24 = false;
    std::uint64_t begin = 0, end = 0; ///< bytes of the file before and up to which samples are
    std::uint64_t file_bytes = 0;
    std::optional<double> frequency;    ///< Hz, from "auxi"
    std::optional<std::int64_t> utc_ns; ///< of the first sample, from "auxi"
    bool has_length = true;             ///< the header says where the samples end
    std::string remark;                 ///< for a header without a length; otherwise ""

    std::uint64_t samples() const noexcept;
};

/// Whether a regular file begins with the name of a RIFF file: RIFF, RF64, BW64 or RIFX. False if
/// it cannot be read.
bool begins_with_riff(const std::string& path) noexcept;
/// The same for an open file, from its position on.
bool begins_with_riff(int fd) noexcept;

/// Throws: a storage Error for a file that is no WAV file, is truncated, or has values that are not
/// read (compressed ones, or big-endian).
WavHeader read_wav_header(const std::string& path);

} // namespace iio_stream::file
