// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/endpoint.hpp"

#include <vector>

namespace iio_stream::soapy {

/// Logs the warnings of a route, and at debug level its hops.
void log_route(const std::vector<Hop>& route);
/// Logs the place, the size and the evidence of a loss. Returns true if the loss is certain.
bool log_loss(const Gap& gap);

} // namespace iio_stream::soapy
