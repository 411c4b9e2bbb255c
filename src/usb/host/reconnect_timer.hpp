// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"

#include <cstdint>
#include <string>

namespace iio_stream::usb {

/// Limits how long a stream waits for the return of a disconnected peer (reconnect=), and paces the
/// attempts. Thread: one at a time.
class ReconnectTimer {
public:
    explicit ReconnectTimer(std::int64_t reconnect_ns) : reconnect_ns_(reconnect_ns) {}

    /// Call in a catch block. Rethrows every error except a disconnected peer (ENODEV); without
    /// reconnect=, rethrows that one, too.
    void begin(const Error& error);
    bool is_time() const noexcept; ///< whether the next attempt is due
    std::int64_t next_ns() const noexcept { return retry_ns_; }
    void note_attempt() noexcept; ///< call before each attempt
    /// Call in a catch block after an attempt that found no usable peer, named by `choice`.
    /// Rethrows a usage error; throws Error when the waiting time is over.
    void failed(const Error& error, const std::string& choice) const;

private:
    std::int64_t reconnect_ns_, retry_ns_ = 0, give_up_ns_ = 0;
};

} // namespace iio_stream::usb
