// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/iq_pairs.hpp"
#include "iio_stream/format.hpp"

#include <string>

namespace iio_stream::iio {

/// The chosen scan elements of a remote device, laid out; the caller sets the rate.
Format choose_channels(const Device& device, const std::string& names, Iq iq, bool output);

} // namespace iio_stream::iio
