// SPDX-License-Identifier: MIT
#pragma once

#include "core/base/text.hpp"
#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::detail {

/// Adds a remark to the route of a sink that passes on only samples: the metadata of the recording
/// are left out.
inline void note_unsent_metadata(const StreamInfo& stream, std::string& why)
{
    if (stream.metadata)
        add_clause(why,
                   "captures, annotations and the other metadata of the recording are left out");
}

} // namespace iio_stream::detail
