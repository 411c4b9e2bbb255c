// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::iio {

/// Everything known about a device; reads each attribute.
DeviceInfo info_of(const Device& device);
/// An attribute's value for people: as the kernel, or a remote device, words it.
std::string value_text(const std::string& value);
/// Applies options to the radio in front of one buffer's channels, and reads back all its settings.
/// `uri` is the context's, `phy` "auto" or the front end's name.
Tuning tune_device(const Device& device, const std::string& uri, const std::string& phy, int buffer,
                   const std::string& channels, Options options);

} // namespace iio_stream::iio
