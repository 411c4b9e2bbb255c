// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// Size of the header of a WAV file that iio-stream writes. It is a multiple of the alignment that
/// disks require, so that writes of the samples can bypass the page cache.
inline constexpr std::size_t kWavHeaderBytes = 4096;

/// The facts in the header of a new WAV file.
struct WavFacts {
    Format format;                   ///< the result of conversion_to_wav()
    std::optional<double> frequency; ///< Hz
    std::int64_t utc_ns = 0;         ///< time of the first sample; 0 = unknown
};

/// The conversion of `format` to the nearest format that WAV files hold: cu8, ci16_le, ci32_le,
/// cf32_le, cf64_le, or one or two real channels with values of these types. Throws a usage Error
/// for more than two channels.
Conversion conversion_to_wav(const Format& format, const std::string& path);

/// Throws a usage Error if the sample rate is unknown or the header cannot hold it.
void require_wav_rate(const Format& format, const std::string& path);

/// The parts of the rate and the frequency that the header cannot hold; "" if it holds both
/// exactly.
std::string not_kept_in_wav(const WavFacts& facts);

/// The header of a file with `data_bytes` bytes of samples. nullopt: the size is not known yet, and
/// readers take everything up to the end of the file. The header is RIFF if the sizes fit into 32
/// bits, otherwise RF64 (EBU Tech 3306), whose first chunk is "ds64". Frequency and time are in
/// SpectraVue's chunk "auxi", which SDR#, HDSDR, SDRuno and SDRangel read; 0 = unknown. The chunk
/// "JUNK" fills the rest. Other readers skip both chunks. SDRangel expects the format right after
/// "WAVE", then "auxi", and searches for "data" in steps of 8 bytes from there. It finds "data" in
/// this header.
std::array<std::byte, kWavHeaderBytes> wav_header(const WavFacts& facts,
                                                  std::optional<std::uint64_t> data_bytes);

/// Writes the sizes into the header of a file that was interrupted and now has `bytes`. `fd` is
/// open for writing. The header must be one that wav_header() made. Throws a storage Error.
void set_wav_length(int fd, const std::string& path, std::uint64_t bytes);

} // namespace iio_stream::file
