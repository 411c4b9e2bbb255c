// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/error.hpp"
#include "usb/host.hpp"

#include <cstdint>

namespace iio_stream::usb {

/// How long a stream waits for a board that is gone (reconnect=), and when it looks for it.
/// Thread: one at a time.
class ReconnectTimer {
public:
    explicit ReconnectTimer(std::int64_t reconnect_ns) : reconnect_ns_(reconnect_ns) {}

    /// In a catch block: throws on what is no departure, and all where nobody waits.
    void begin(const Error& error);
    bool is_time() const noexcept; ///< to look for it
    std::int64_t next_ns() const noexcept { return retry_ns_; }
    void look() noexcept; ///< is what comes now
    /// In a catch block: of a look that found no board to go on with. Throws where no other can.
    void failed(const Error& error, const BoardChoice& choice) const;

private:
    std::int64_t reconnect_ns_, retry_ns_ = 0, give_up_ns_ = 0;
};

} // namespace iio_stream::usb
