// SPDX-License-Identifier: MIT
#pragma once

#include "file/loss.hpp"
#include "file/sigmf/datatype.hpp"
#include "file/tuning.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::file {

inline constexpr const char* kSigmfVersion = "1.2.5";

/// Whether a recording is complete, in iio_stream:state.
enum class State { recording, complete, interrupted, recovered };
const char* name_of(State state) noexcept;

/// How a recording ended.
struct Outcome {
    State state = State::complete;
    std::uint64_t samples = 0;     ///< in the file
    std::uint64_t first_index = 0; ///< index in the stream of the file's first sample
    bool index_exact = true;       ///< false: it is a lower bound
    std::int64_t utc_ns = 0;       ///< when that was taken; 0 = as already in the metadata
    std::vector<Loss> losses;
    Tunings tunings; ///< written only if they have changed
    std::string end; ///< why it ended early; "" = it did not
};

/// The metadata of a new recording: valid, and true for an empty data file. `utc_ns` is its start;
/// 0 = unknown. Throws like datatype_of().
Json describe(const StreamInfo& stream, const std::string& path, std::int64_t utc_ns,
              const std::string& hostname);

/// Adds where in the stream, and when, it begins; no losses yet.
void tell_begin(Json& metadata, const Outcome& outcome);

/// Adds captures and annotations for the outcome.
void conclude(Json& metadata, const Outcome& outcome);

/// conclude() for a recording that may have been edited since: what is not ours stays, as far as it
/// is in the file.
void conclude_again(Json& metadata, const Outcome& outcome);

/// "2026-01-01T00:00:00.000000Z".
std::string utc_text(std::int64_t ns);

/// What reading the data file requires, from metadata without problems (check.hpp).
struct Contents {
    Format format;
    Tuning tuning;
    std::vector<Loss> losses;      ///< offsets in samples of the file
    std::vector<Gap> gaps;         ///< those of them not filled with zeros
    std::uint64_t first_index = 0; ///< in the stream, before losses before the first sample
    bool first_exact = true;       ///< false: it is a lower bound
    std::string dataset;           ///< name of the data file if it is not the usual one
    std::optional<State> state;    ///< if we wrote it
    std::optional<std::uint64_t> samples;
    std::string sha512;
};
/// Throws a usage Error if the samples cannot be read.
Contents contents_of(const Json& metadata);

/// The settings of the radio when the recording began.
Settings settings_in(const Json& metadata);

/// Reads a metadata file. Throws a storage Error if it is missing or not JSON.
Json load_metadata(const std::string& path);
/// The same from the text of the file `path`.
Json parse_metadata(std::string_view text, const std::string& path);
/// The text of a metadata file.
std::string text_of(const Json& metadata);

} // namespace iio_stream::file
