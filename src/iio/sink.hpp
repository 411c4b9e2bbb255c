// SPDX-License-Identifier: MIT
#pragma once

#include "iio/source.hpp"

namespace iio_stream::iio {

/// "iio:DEVICE" as an output (DAC), local or remote.
std::unique_ptr<Sink> make_sink(Uri& address);

/// A device plays what it gets: throws a usage Error where a stream's samples are not laid out as
/// the device's, naming both.
void check_same_samples(const Format& stream, const Format& device, const std::string& name);

} // namespace iio_stream::iio
