// SPDX-License-Identifier: MIT
#pragma once

#include "fuzz/fuzz.hpp"

namespace iio_stream::fuzz {

void conversion(std::span<const std::byte> input);

} // namespace iio_stream::fuzz
