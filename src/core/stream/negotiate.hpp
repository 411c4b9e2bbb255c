// SPDX-License-Identifier: MIT
#pragma once

#include "core/stream/sink_link.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <vector>

namespace iio_stream::detail {

/// The memory of a pipeline's blocks, and how each endpoint uses the blocks.
struct Plan {
    Memory memory;
    std::vector<Hop> route; ///< source → block, then block → each sink, in the order of the sinks
    CpuUse cpu = CpuUse::none;
};

/// Picks the memory that the source prefers; otherwise the memory that serves all endpoints with
/// the fewest copies. Among equals, it avoids DMABUFs that no device would get, and then picks the
/// first in `choices`. Unavailable memory is skipped, and the route names it if that costs a copy.
/// Throws an Error with the reasons if no memory works.
Plan negotiate(const Source& source, const std::string& uri,
               const std::vector<std::unique_ptr<SinkLink>>& sinks, std::size_t block_size,
               const std::vector<MemoryChoice>& choices);

} // namespace iio_stream::detail
