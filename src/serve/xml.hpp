// SPDX-License-Identifier: MIT
#pragma once

#include "serve/tree.hpp"

#include <string>

namespace iio_stream::serve {

/// The tree in libiio 0.x's XML.
std::string xml_of(const Tree& tree);

} // namespace iio_stream::serve
