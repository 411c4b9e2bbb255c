// SPDX-License-Identifier: MIT
#pragma once

#include "iio/source.hpp"

namespace iio_stream::iio {

/// "iio:DEVICE" as an output (DAC), local or remote.
std::unique_ptr<Sink> make_sink(Uri& address);

} // namespace iio_stream::iio
