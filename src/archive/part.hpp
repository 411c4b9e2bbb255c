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

/// Properties of a part's samples from sample `start` on. `index` is the sample index of sample
/// `start`.
struct Capture {
    std::uint64_t start = 0, index = 0;
    std::optional<std::int64_t> utc_ns;
    std::optional<double> frequency, rate;
};

/// One part of a recording: a pair of objects, as its metadata describe it. The samples are not
/// read.
struct Part {
    std::string name;                    ///< of both objects, within the archive, without suffix
    std::optional<std::uint64_t> number; ///< if the recording has several parts
    Format format;
    std::string device, sha512;
    std::uint64_t samples = 0, bytes = 0; ///< according to the metadata
    std::uint64_t data_bytes = 0;         ///< size of the data object
    Entry metadata;                       ///< entry of the metadata that were read
    std::string text;                     ///< of the metadata; only kept for an index
    std::vector<Capture> captures;        ///< at least one, the first at sample 0
    std::vector<Gap> gaps;                ///< recorded gaps, sorted by offset_max
    std::vector<Zeros> zeros;             ///< in place of lost samples

    /// Name of the recording to which the part belongs.
    std::string recording() const { return number ? name.substr(0, name.rfind('.')) : name; }
    std::uint64_t index() const noexcept { return captures[0].index; }
    /// Sample index of sample `place` of the part.
    std::uint64_t index_at(std::uint64_t place) const noexcept;
    /// Sample index of the last sample, or index() if the part is empty.
    std::uint64_t last() const noexcept { return samples == 0 ? index() : index_at(samples - 1); }
    /// Sample index after the last sample.
    std::uint64_t end() const noexcept
    {
        return samples == 0 ? index() : index_at(samples - 1) + 1;
    }
};

/// Makes a part from its metadata. `samples` is kUnknown if the metadata do not state it, and
/// `bytes` is 0 until set_size(). Returns nullopt if the samples are still being written. Throws an
/// Error whose detail states what is wrong with the metadata.
std::optional<Part> part_of(const std::string& name, std::string_view metadata);

/// Sets the size of the data object. Throws an Error unless it fits the metadata.
void set_size(Part& part, std::uint64_t bytes);

} // namespace iio_stream::archive
