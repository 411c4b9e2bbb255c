// SPDX-License-Identifier: MIT
#include "iio_stream/api.hpp"

namespace iio_stream {

const char* version() noexcept
{
    return kVersion;
}

} // namespace iio_stream
