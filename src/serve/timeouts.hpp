// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace iio_stream::serve {

/// How long a client's buffers wait for a block, in milliseconds as TIMEOUT says it; 0: for as long as it takes.
/// libiio says it on its context's connection only, and its buffers have connections of their own. Which of a host's
/// programs such a connection belongs to is not known: it waits as long as the most patient of them, so that none can
/// make another one's reads fail.
/// Thread: any.
class Timeouts {
public:
    void set(const std::string& peer, std::uint32_t ms);
    void forget(const std::string& peer);
    std::uint32_t of(const std::string& peer) const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint32_t> said_; ///< by "HOST:PORT" of the connection that said it
};

} // namespace iio_stream::serve
