// SPDX-License-Identifier: MIT
#include "serve/timeouts.hpp"

#include <algorithm>
#include <string_view>

namespace iio_stream::serve {

namespace {

constexpr std::uint32_t kDefaultTimeoutMs = 2500; // half of libiio's own, as it tells it

std::string_view host_of(std::string_view peer)
{
    return peer.substr(0, peer.rfind(':'));
}

// Without an end is the longest.
bool is_shorter(std::uint32_t a, std::uint32_t b)
{
    return a != 0 && (b == 0 || a < b);
}

} // namespace

void Timeouts::set(const std::string& peer, std::uint32_t ms)
{
    const std::lock_guard lock(mutex_);
    said_[peer] = ms;
}

void Timeouts::forget(const std::string& peer)
{
    const std::lock_guard lock(mutex_);
    said_.erase(peer);
}

std::uint32_t Timeouts::of(const std::string& peer) const
{
    const std::lock_guard lock(mutex_);
    if (const auto own = said_.find(peer); own != said_.end())
        return own->second;
    std::uint32_t longest = 0;
    bool is_said = false;
    for (const auto& [other, ms] : said_)
        if (host_of(other) == host_of(peer)) {
            longest = is_said ? std::max(longest, ms, is_shorter) : ms;
            is_said = true;
        }
    return is_said ? longest : kDefaultTimeoutMs;
}

} // namespace iio_stream::serve
