// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/format.hpp"

#include <string>

namespace iio_stream::detail {

/// A device takes what it gets: throws a usage Error where a stream's samples are not laid out as
/// the device's, naming both.
void check_same_samples(const Format& stream, const Format& device, const std::string& name);

} // namespace iio_stream::detail
