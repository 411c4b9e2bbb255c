// SPDX-License-Identifier: MIT
#pragma once

#include "file/loss.hpp"
#include "file/sigmf/datatype.hpp"
#include "file/tuning.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

inline constexpr const char* kSigmfVersion = "1.2.5";

/// What a recording says of its own completeness, in iio_stream:state.
enum class State { recording, complete, interrupted, recovered };

/// How a recording ended.
struct Outcome {
    State state = State::complete;
    std::uint64_t samples = 0;     ///< in the file
    std::uint64_t first_index = 0; ///< of the stream's samples: the file's first
    bool index_exact = true;       ///< else it is the least that it can be
    std::int64_t utc_ns = 0;       ///< when that was taken; 0 = as the metadata say already
    std::vector<Loss> losses;
    Tunings tunings; ///< written only if they have changed
    std::string end; ///< why it ended early; "" = it did not
};

/// The metadata of a recording that begins: valid, and true of an empty data file.
/// `utc_ns` is when it begins; 0 = unknown. Throws as datatype_of().
Json describe(const StreamInfo& stream, const std::string& path, std::int64_t utc_ns,
              const std::string& hostname);

/// Tells where in the stream, and when, it begins; nothing yet of losses.
void tell_begin(Json& metadata, const Outcome& outcome);

/// Makes captures and annotations of what became of it.
void conclude(Json& metadata, const Outcome& outcome);

/// conclude() for a recording that somebody may have edited since: what is not ours stays, as far as
/// it lies in the file.
void conclude_again(Json& metadata, const Outcome& outcome);

/// "2026-01-01T00:00:00.000000Z".
std::string utc_text(std::int64_t ns);

/// What reading the data file takes, out of metadata without problems (check.hpp).
struct Contents {
    Format format;
    Tuning tuning;
    std::vector<Loss> losses;   ///< offsets in samples of the file
    std::vector<Gap> gaps;      ///< those of them that are not filled with zeros
    std::uint64_t first_index = 0; ///< of the stream, before what was lost before the first sample
    bool first_exact = true;       ///< else it is the least that it can be
    std::string dataset;        ///< the data file's name where it is not the usual one
    std::optional<State> state; ///< where we wrote it
    std::optional<std::uint64_t> samples;
    std::string sha512;
};
/// Throws a usage Error where the samples cannot be read.
Contents contents_of(const Json& metadata);

/// How the radio was set when the recording began.
Settings settings_in(const Json& metadata);

/// Reads a metadata file. Throws a storage Error: it is not there, not JSON.
Json load_metadata(const std::string& path);
/// The text of a metadata file.
std::string text_of(const Json& metadata);

} // namespace iio_stream::file
