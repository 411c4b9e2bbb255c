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
    /// A connection says `ns` in place of `before`; 0: nothing.
    void say(std::int64_t before, std::int64_t ns)
    {
        const std::lock_guard lock(mutex_);
        if (const auto at = said_.find(before); at != said_.end())
            said_.erase(at);
        if (ns != 0)
            said_.insert(ns);
        else
            past_ns_ = std::max(past_ns_, before);
    }

    std::int64_t ns() const
    {
        const std::lock_guard lock(mutex_);
        const std::int64_t longest = std::max(past_ns_, said_.empty() ? 0 : *said_.rbegin());
        return longest == 0 ? kUnsaidNs : longest;
    }

private:
    static constexpr std::int64_t kUnsaidNs =
        2'500'000'000; // half of libiio's own, as libiio says it

    mutable std::mutex mutex_;
    std::multiset<std::int64_t> said_; ///< by the connections there are
    std::int64_t past_ns_ = 0;         ///< the longest of those that have ended
};

} // namespace iio_stream::serve
