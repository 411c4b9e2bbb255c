// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "iio_stream/format.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::file {

using Json = nlohmann::ordered_json;

/// The value if it is a whole number of 0 or more, as SigMF's counts are, in any of JSON's integer
/// types; otherwise nullopt.
inline std::optional<std::uint64_t> count_in(const Json& value)
{
    if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0))
        return value.get<std::uint64_t>();
    return std::nullopt;
}

/// The values of core:datatype and core:num_channels.
struct Datatype {
    std::string name;
    std::uint64_t channels = 1; ///< for a complex datatype: number of pairs
};

/// SigMF's name for samples of this format. It depends only on their words in memory: 12 bits
/// sign-extended to 16 are ri16. Throws a usage Error, with reason and hint, for samples without a
/// name: shifted values, 64-bit integers, or channels of several types.
Datatype datatype_of(const Format& format, const std::string& path);

/// The conversion to the smallest datatype that holds every bit of the samples, if SigMF has no
/// name for them: signed integers of 8, 16 or 32 bits, or floats. The result is empty if no
/// conversion is required, or if the values are repeated, because no conversion helps then.
Conversion conversion_to_datatype(const Format& format);

/// Whether `name` is a core:datatype of SigMF 1.2.5.
bool is_datatype(const std::string& name);

/// The types and names of the channels, which the datatype does not state, for iio_stream:channels.
Json channels_json(const Format& format);

/// The format of a datatype; `channels` is from channels_json(), or null. Throws a usage Error.
Format format_of(const Datatype& datatype, const Json& channels);

} // namespace iio_stream::file
