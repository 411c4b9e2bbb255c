// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"

#include <string>

namespace iio_stream::iio {

/// Splits "[DEVICE/][CHANNEL/]NAME", counting the parts from the back.
struct AttributePath {
    std::string device, channel, name;
    static AttributePath parse(const std::string& path, const ContextPtr& context);
};

} // namespace iio_stream::iio
