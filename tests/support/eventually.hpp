// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <thread>

namespace iio_stream::test {

/// Waits at most ten seconds for `true_now()` to return true. Returns whether it did.
template <typename Condition>
bool eventually(Condition&& true_now)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!true_now()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace iio_stream::test
