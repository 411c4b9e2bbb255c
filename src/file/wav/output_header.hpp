// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace iio_stream::file {

/// Bytes before the samples of a WAV file that is written here. They are a multiple of what disks
/// need, so that samples are written past the page cache.
inline constexpr std::size_t kWavHeaderBytes = 4096;

/// What the header of a new WAV file says.
struct WavFacts {
    Format format;                   ///< as after conversion_to_wav()
    std::optional<double> frequency; ///< Hz
    std::int64_t utc_ns = 0;         ///< of the first sample; 0 = unknown
};

/// WAV files hold cu8, ci16_le, ci32_le, cf32_le, cf64_le, and one or two real channels of these
/// words: the conversion to the nearest of them. Throws a usage Error for more channels.
Conversion conversion_to_wav(const Format& format, const std::string& path);

/// Throws a usage Error for a sample rate that the header cannot have, or that is not known.
void require_wav_rate(const Format& format, const std::string& path);

/// What the header cannot hold of a rate and a frequency; "" if it holds them as they are.
std::string not_kept_in_wav(const WavFacts& facts);

/// The header of a file with that many bytes of samples; nullopt: they are not known yet, and
/// readers take all up to the end of the file. It is RIFF as long as the sizes fit into 32 bits,
/// otherwise RF64 (EBU Tech 3306), whose first chunk is "ds64". Frequency and time are in the chunk
/// "auxi" of SpectraVue, as SDR#, HDSDR, SDRuno and SDRangel read them; 0 = unknown. The chunk
/// "JUNK" fills the rest. Other readers skip both. SDRangel expects the format right after "WAVE",
/// then "auxi", and looks for "data" in steps of 8 bytes from there: here it finds it.
std::array<std::byte, kWavHeaderBytes> wav_header(const WavFacts& facts,
                                                  std::optional<std::uint64_t> data_bytes);

/// Writes the sizes into the header of a file that was interrupted, and that now has `bytes`; `fd`
/// is open for writing. The header must be one of wav_header(). Throws a storage Error.
void set_wav_length(int fd, const std::string& path, std::uint64_t bytes);

} // namespace iio_stream::file
