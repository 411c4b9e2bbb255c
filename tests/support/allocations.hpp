// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace iio_stream::test {

/// Returns the number of allocations by operator new so far, in all threads of this program.
std::size_t allocations() noexcept;

/// Makes the n-th allocation from now on fail, in any thread; 0 = none. Each allocation decrements
/// allocations_until_failure() until it is 0.
void fail_allocation(std::size_t n) noexcept;
std::size_t allocations_until_failure() noexcept;

} // namespace iio_stream::test
