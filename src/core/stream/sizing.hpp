// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/pipeline.hpp"

namespace iio_stream::detail {

/// Number and size of the blocks, and how long to wait for one.
struct Sizing {
    std::size_t block_size = 0, block_count = 0;
    std::size_t unit_bytes = 1; ///< any part of a block is a multiple of it
    std::int64_t timeout_ns = 0;
};

/// Checks and returns the sizes that the user has chosen, or returns the defaults. By default, a
/// block holds about 10 ms (64 KiB to 4 MiB), and the blocks together hold 250 ms (8 to 64 blocks).
/// `format` has the rate at which the stream runs. If 64 KiB would take longer than 250 ms to fill,
/// blocks hold 250 ms of samples instead, so that a stop or a --duration is not off by many
/// seconds. A stream that ends after `wanted_bytes` (kUnknown: no such limit) gets no more blocks
/// than it needs.
Sizing size_blocks(const PipelineConfig& config, const Format& format, const BlockNeeds& needs,
                   std::uint64_t wanted_bytes = kUnknown);

} // namespace iio_stream::detail
