// SPDX-License-Identifier: MIT
#pragma once

#include "core/sink_worker.hpp"
#include "iio_stream/endpoint.hpp"

#include <memory>
#include <vector>

namespace iio_stream::detail {

/// The blocks of a pipeline: what they are made of and how each end uses them.
struct Plan {
    Memory memory;
    std::vector<Hop> route; ///< source → block, then block → each sink, in their order
    CpuUse cpu = CpuUse::none;
};

/// Picks the memory of the source's liking, else that which serves all ends with the fewest copies,
/// then the one that no device needs to be given, then the first in `choices`. Those that are
/// unavailable are left out, and named in the route where a copy is made for the lack of them.
/// Throws where nothing serves, naming what each memory lacked.
Plan negotiate(const Source& source, const std::string& uri,
               const std::vector<std::unique_ptr<SinkWorker>>& workers, std::size_t block_size,
               const std::vector<MemoryChoice>& choices);

} // namespace iio_stream::detail
