// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/pipeline.hpp"

#include <memory>
#include <vector>

namespace iio_stream::detail {

/// Opens the endpoints of `config` and makes the engine of a pipeline of them. A source or sinks
/// that are given take the place of those addresses, which are then only names. Throws: Error from
/// the endpoints, and a usage Error for no sink or too many.
std::unique_ptr<Engine> make_engine(const PipelineConfig& config, std::unique_ptr<Source> source,
                                    std::vector<std::unique_ptr<Sink>> sinks);

} // namespace iio_stream::detail
