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

/// What reading the data file requires.
struct Contents {
    Format format;
    Tuning tuning;
    std::vector<Loss> losses;      ///< offsets in samples of the file
    std::vector<Gap> gaps;         ///< those of them not filled with zeros
    std::uint64_t first_index = 0; ///< in the stream, before losses before the first sample
    bool first_exact = true;       ///< false: it is a lower bound
    std::string dataset;           ///< name of the data file if it is not the usual one
    DataLayout layout;             ///< the bytes of that file that are not samples
    bool metadata_only = false;    ///< the recording was distributed without its samples
    std::optional<State> state;    ///< if we wrote it
    std::optional<std::uint64_t> samples;
    std::string sha512;
};
/// From metadata as inspect() repairs them. `stated`: the format of the samples, whatever the
/// metadata say; required if they do not say it.
Contents contents_of(const Json& metadata, const std::optional<Format>& stated = std::nullopt);

/// The settings of the radio when the recording began.
Settings settings_in(const Json& metadata);

inline constexpr const char* kMetadataTooLong = "the metadata have more than 64 MiB";
/// Throws a storage Error (EBADMSG) with that text for more bytes than kMostMetadata, in the file
/// `path`.
void refuse_long_metadata(std::uint64_t bytes, const std::string& path);

/// Reads a metadata file. Throws a storage Error if it is missing or too long.
std::string load_metadata_text(const std::string& path);
/// The same, parsed. Throws a storage Error also if it is not JSON.
Json load_metadata(const std::string& path);
/// The same from the text of the file `path`.
Json parse_metadata(std::string_view text, const std::string& path);

} // namespace iio_stream::file
