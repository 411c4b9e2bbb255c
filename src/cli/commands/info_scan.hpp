// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::cli {

/// info --scan: prints the boards that answer, each with its endpoints, or the places where none
/// was found. `uri` is one more place to look; "" is none. Returns the exit status.
int scan_for_boards(const std::string& uri);

} // namespace iio_stream::cli
