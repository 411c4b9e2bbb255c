// SPDX-License-Identifier: MIT
#pragma once

#include "core/options/common_options.hpp"

namespace iio_stream::framing {

/// Options that both ends of a link accept.
inline constexpr OptionTable kLinkOptions{
    Option{"check", OptionType::choice, "off|crc32c", "", "off",
           "Checksum of each block, computed by the sender's CPU and checked by the receiver's"},
};

} // namespace iio_stream::framing
