// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/block.hpp"

namespace iio_stream::soapy {

/// Logs where samples are lost, how many, and what shows it. True if at least one certainly is.
bool log_loss(const Gap& gap);

} // namespace iio_stream::soapy
