// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>

namespace iio_stream::serve {

/// The time for which the buffers of a host's programs wait for a block, in nanoseconds.
/// libiio sends TIMEOUT on its context's connection only, and opens a connection of its own for
/// each buffer. The server cannot determine to which of the host's programs a buffer belongs. Each
/// buffer therefore waits for the longest timeout that any of them has set, so that no program can
/// make another program's reads fail. A timeout remains in force after its connection has ended,
/// because the server may have closed an idle connection to make room. Thread: any.
class HostTimeout {
public:
    /// Replaces the timeout `before` of a connection with `ns`; 0: none.
    void replace(std::int64_t before, std::int64_t ns)
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = requested_.find(before); at != requested_.end())
            requested_.erase(at);
        if (ns != 0)
            requested_.insert(ns);
        else
            past_ns_ = std::max(past_ns_, before);
    }

    std::int64_t ns() const
    {
        const std::lock_guard lock(mutex_);
        const std::int64_t longest =
            std::max(past_ns_, requested_.empty() ? 0 : *requested_.rbegin());
        return longest == 0 ? kDefaultNs : longest;
    }

private:
    // Half of libiio's default of 5 s, as libiio sends half of its timeout in TIMEOUT.
    static constexpr std::int64_t kDefaultNs = 2'500'000'000;

    mutable std::mutex mutex_;
    std::multiset<std::int64_t> requested_; ///< timeouts of the open connections
    std::int64_t past_ns_ = 0;              ///< longest timeout of the connections that have ended
};

} // namespace iio_stream::serve
