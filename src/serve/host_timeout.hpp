// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>

namespace iio_stream::serve {

/// How long the buffers of a host's programs wait for a block, in nanoseconds.
/// libiio says TIMEOUT on its context's connection only, and its buffers have connections of their
/// own; which of a host's programs one belongs to is not known. It waits as long as the most
/// patient of them said, so that none can make another one's reads fail. What a connection said
/// outlasts it: an idle one may have had to make room. Thread: any.
class HostTimeout {
public:
    /// A connection replaces its timeout `before` by `ns`; 0: none.
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
    static constexpr std::int64_t kDefaultNs =
        2'500'000'000; // half of libiio's own, as libiio says it

    mutable std::mutex mutex_;
    std::multiset<std::int64_t> requested_; ///< by the open connections
    std::int64_t past_ns_ = 0;              ///< the longest of those that have ended
};

} // namespace iio_stream::serve
