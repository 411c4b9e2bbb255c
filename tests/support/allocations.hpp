// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace iio_stream::test {

/// How often any thread of this program has asked operator new for memory so far.
std::size_t allocations() noexcept;

/// The n-th allocation from now on fails, in any thread; 0 = none. Counts down to 0.
void fail_allocation(std::size_t n) noexcept;
std::size_t allocations_until_failure() noexcept;

} // namespace iio_stream::test
