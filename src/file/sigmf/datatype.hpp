// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace iio_stream::file {

using Json = nlohmann::ordered_json;

/// A whole number from 0 on, as SigMF's counts are; of any of JSON's kinds of integers.
inline std::optional<std::uint64_t> count_in(const Json& value)
{
    if (value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0))
        return value.get<std::uint64_t>();
    return std::nullopt;
}

/// core:datatype and core:num_channels.
struct Datatype {
    std::string name;
    std::uint64_t channels = 1; ///< of a complex datatype: pairs
};

/// What SigMF calls such samples, where words of memory are all that counts: 12 bits that lie
/// sign-extended in 16 are ri16. Throws a usage Error, with the reason and the way out, for samples
/// that it has no name for: shifted ones, 64-bit integers, channels of several types.
Datatype datatype_of(const Format& format, const std::string& path);

/// Whether it is a core:datatype as SigMF 1.2.5 defines them.
bool is_datatype(const std::string& name);

/// The channels' own types and names, which the datatype does not tell: for iio_stream:channels.
Json channels_json(const Format& format);

/// The format of a datatype; `channels` is what channels_json() said or null. Throws a usage Error.
Format format_of(const Datatype& datatype, const Json& channels);

} // namespace iio_stream::file
