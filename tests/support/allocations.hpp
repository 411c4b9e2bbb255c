// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace iio_stream::test {

/// How often any thread of this program has asked operator new for memory so far.
std::size_t allocations() noexcept;

} // namespace iio_stream::test
