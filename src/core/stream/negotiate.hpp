// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/sink_link.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <vector>

namespace iio_stream::detail {

/// The blocks of a pipeline: what they are made of, and how each endpoint uses them.
struct Plan {
    Memory memory;
    std::vector<Hop> route; ///< source → block, then block → each sink, in their order
    CpuUse cpu = CpuUse::none;
};

/// Picks the memory the source prefers; otherwise the one that serves all endpoints with the fewest
/// copies, then one that no device needs to be given, then the first in `choices`. Unavailable ones
/// are skipped, and named in the route if that costs a copy. Throws if none works, naming what each
/// one lacks.
Plan negotiate(const Source& source, const std::string& uri,
               const std::vector<std::unique_ptr<SinkLink>>& sinks, std::size_t block_size,
               const std::vector<MemoryChoice>& choices);

} // namespace iio_stream::detail
