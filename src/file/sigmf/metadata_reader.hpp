// SPDX-License-Identifier: MIT
#pragma once

#include "file/io/data_layout.hpp"
#include "file/sigmf/metadata.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::file {

/// The facts that are required to read the data file.
struct Contents {
    Format format;
    Tuning tuning;
    std::vector<Loss> losses;      ///< offsets in samples of the file
    std::vector<Gap> gaps;         ///< the losses that are not filled with zeros
    std::uint64_t first_index = 0; ///< first sample's index, not counting losses right before it
    bool first_exact = true;       ///< false: it is a lower bound
    std::string dataset;           ///< name of the data file if it is not the usual one
    DataLayout layout;             ///< the bytes of that file that are not samples
    bool metadata_only = false;    ///< the recording was distributed without its samples
    std::optional<State> state;    ///< set if iio-stream wrote the metadata
    std::optional<std::uint64_t> samples;
    std::string sha512;
};
/// Reads metadata that inspect() has repaired. `stated`: the format of the samples, which takes
/// precedence over the metadata. It is required if the metadata do not state a format.
Contents contents_of(const Json& metadata, const std::optional<Format>& stated = std::nullopt);

/// The settings of the radio when the recording began.
Settings settings_in(const Json& metadata);

inline constexpr const char* kMetadataTooLong = "the metadata have more than 64 MiB";
/// Throws a storage Error (EBADMSG) with the text kMetadataTooLong if the file `path` has more
/// bytes than kMostMetadata.
void refuse_long_metadata(std::uint64_t bytes, const std::string& path);

/// Reads a metadata file. Throws a storage Error if it is missing or too long.
std::string load_metadata_text(const std::string& path);
/// Reads and parses a metadata file. Throws a storage Error also if it is not valid JSON.
Json load_metadata(const std::string& path);
/// Parses the text of the file `path`.
Json parse_metadata(std::string_view text, const std::string& path);

} // namespace iio_stream::file
