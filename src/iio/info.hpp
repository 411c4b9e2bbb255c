// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::iio {

/// Returns everything known about a device. Reads every attribute.
DeviceInfo info_of(const Device& device);
/// Returns an attribute's value as printable text. The kernel or a remote device provides the
/// value, so it is not trusted.
std::string value_text(const std::string& value);
/// Applies options to the radio in front of one buffer's channels, and reads back all its settings.
/// `uri` is the URI of the context; `phy` is "auto" or the name of the front end.
Tuning tune_device(const Device& device, const std::string& uri, const std::string& phy, int buffer,
                   const std::string& channels, Options options);

} // namespace iio_stream::iio
