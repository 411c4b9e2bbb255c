// SPDX-License-Identifier: MIT
#pragma once

#include "archive/store.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/format.hpp"
#include "iio_stream/recording.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::archive {

inline constexpr const char* kMeta = ".sigmf-meta";
inline constexpr const char* kData = ".sigmf-data";
inline constexpr const char* kJournal = ".sigmf-data.journal";

/// Valid from sample `start` of a part on, which has that index in the stream.
struct Capture {
    std::uint64_t start = 0, index = 0;
    std::optional<std::int64_t> utc_ns;
    std::optional<double> frequency, rate;
};

/// One pair of objects, as its metadata describe it; the samples are not looked at.
struct Part {
    std::string name;                    ///< of both, below the place, without suffix
    std::optional<std::uint64_t> number; ///< if it is one of several
    Format format;
    std::string device, sha512;
    std::uint64_t samples = 0, bytes = 0; ///< by the metadata
    std::uint64_t data_bytes = 0;         ///< of the object
    Entry metadata;                       ///< as they were read
    std::string text;                     ///< of the metadata, if it is to be kept
    std::vector<Capture> captures;        ///< at least one, the first at sample 0
    std::vector<Gap> gaps;                ///< that were recorded, by their ends
    std::vector<Zeros> zeros;             ///< in place of lost samples

    /// Name of the recording that it is a part of.
    std::string recording() const { return number ? name.substr(0, name.rfind('.')) : name; }
    std::uint64_t index() const noexcept { return captures[0].index; }
    /// Index of the sample at that place.
    std::uint64_t index_at(std::uint64_t place) const noexcept;
    /// Index of its last sample, or of the first if there are none.
    std::uint64_t last() const noexcept { return samples == 0 ? index() : index_at(samples - 1); }
    /// Index after its last sample.
    std::uint64_t end() const noexcept
    {
        return samples == 0 ? index() : index_at(samples - 1) + 1;
    }
};

/// From metadata; `samples` and `bytes` are what they say, or 0 where they do not. nullopt: its
/// samples are still being written. Throws an Error whose detail is what is wrong with them.
std::optional<Part> part_of(const std::string& name, std::string_view metadata);

/// Throws an Error unless samples of that many bytes fit the metadata.
void set_size(Part& part, std::uint64_t bytes);

} // namespace iio_stream::archive
