// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Announces a server of iiod's protocol on the local network by mDNS while this object exists, so
/// that `iio_info -S` and other libiio programs find the server. Runs Avahi's avahi-publish, which
/// waits for avahi-daemon if that is not running. Thread: one.
class Announcement {
public:
    /// `addresses`: the addresses of the server. Throws a usage Error if no other machine can reach
    /// any of them, and an Error with Fault::other if avahi-publish cannot be started.
    explicit Announcement(const std::vector<std::string>& addresses);
    Announcement(const Announcement&) = delete;
    ~Announcement();

    /// Reports on stderr, once, if avahi-publish has ended.
    void check();

private:
    int process_ = -1;
};

} // namespace iio_stream::cli
