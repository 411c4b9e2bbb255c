// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace iio_stream::file {

/// The facts about samples that the options frequency= and datetime= state.
struct StatedFacts {
    std::optional<double> frequency;    ///< Hz
    std::optional<std::int64_t> utc_ns; ///< time of the first sample

    static StatedFacts from(Options& options);
    /// Adds the facts to a stream that is written to `path`. Throws a usage Error if the stream has
    /// such facts of its own.
    void add_to(StreamInfo& stream, const std::string& path) const;
};

/// SigMF metadata that consist of the time and the frequency of the first sample. A `rate` of 0 is
/// unknown.
std::shared_ptr<const std::string> metadata_of_start(std::int64_t utc_ns, double rate,
                                                     std::optional<double> frequency);

} // namespace iio_stream::file
