// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/endpoint.hpp"

#include <string>

namespace iio_stream::iio {

/// All that is known of a device; reads each attribute.
DeviceInfo info_of(const Device& device);
/// An attribute's value for people: the kernel's words, or those of whoever answers at ip:.
std::string value_text(const std::string& value);
/// Sets options of the radio in front of one buffer's channels, and reads back how all of it is set. `uri` is the
/// context's, `phy` "auto" or the front end's name.
Tuning tune_device(const Device& device, const std::string& uri, const std::string& phy, int buffer,
                   const std::string& channels, Options options);

} // namespace iio_stream::iio
