// SPDX-License-Identifier: MIT
#pragma once

#include "serve/tree.hpp"

#include <string>

namespace iio_stream::serve {

/// Returns the tree as XML for libiio 0.x.
std::string xml_of(const Tree& tree);

} // namespace iio_stream::serve
