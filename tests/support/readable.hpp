// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

namespace iio_stream::test {

/// Returns whether an fd is readable now.
inline bool readable(int fd)
{
    pollfd request{fd, POLLIN, 0};
    return ::poll(&request, 1, 0) == 1;
}

} // namespace iio_stream::test
