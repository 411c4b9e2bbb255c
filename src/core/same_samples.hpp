// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <string>

namespace iio_stream::detail {

/// A device takes samples as they come: throws a usage Error that names both formats if a stream's
/// samples are not laid out like the device's.
void check_same_samples(const Format& stream, const Format& device, const std::string& name);

} // namespace iio_stream::detail
