// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"
#include "iio_stream/endpoint.hpp"

#include <vector>

namespace iio_stream::soapy {

/// Logs, for those who look for it, how samples get to the program.
void log_route(const std::vector<Hop>& route);
/// Logs where samples are lost, how many, and what shows it. True if at least one certainly is.
bool log_loss(const Gap& gap);

} // namespace iio_stream::soapy
