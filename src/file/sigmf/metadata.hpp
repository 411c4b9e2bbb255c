// SPDX-License-Identifier: MIT
#pragma once

#include "file/journal/file_loss.hpp"
#include "file/journal/file_retuning.hpp"
#include "file/sigmf/datatype.hpp"
#include "iio_stream/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::file {

inline constexpr const char* kSigmfVersion = "1.2.5";
inline constexpr std::size_t kUtcDigits = 6; ///< digits after the decimal point in core:datetime

/// The state of a recording, in iio_stream:state.
enum class State { recording, complete, interrupted, recovered };
const char* name_of(State state) noexcept;

/// How a recording ended.
struct Outcome {
    State state = State::complete;
    std::uint64_t samples = 0;     ///< samples in the file
    std::uint64_t first_index = 0; ///< index in the stream of the file's first sample
    bool index_exact = true;       ///< false: it is a lower bound
    std::int64_t utc_ns = 0;       ///< when the first sample was taken; 0 = as in the metadata
    std::vector<Loss> losses;
    Tunings tunings; ///< written only if the settings have changed
    std::string end; ///< why the recording ended early; "" = it did not
};

/// The metadata of a new recording. They are valid, and correct for an empty data file. `utc_ns` is
/// the start of the recording; 0 = unknown. Throws like datatype_of().
Json describe(const StreamInfo& stream, const std::string& path, std::int64_t utc_ns,
              const std::string& hostname);

/// Adds the place in the stream and the time at which the file begins. Does not add losses.
void set_start(Json& metadata, const Outcome& outcome);

/// Adds captures and annotations for the outcome.
void write_outcome(Json& metadata, const Outcome& outcome);

/// The text of a metadata file.
std::string text_of(const Json& metadata);

} // namespace iio_stream::file
