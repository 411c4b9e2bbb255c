// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace iio_stream::cli {

/// Tells the local network by mDNS, as long as it lives, where a server of iiod's protocol is:
/// `iio_info -S` and other programs of libiio then find it. Avahi's own avahi-publish does it, and
/// waits for avahi-daemon where that does not run. Thread: one.
class Announcement {
public:
    /// `addresses`: the server's. Throws Error: usage if none of them can be reached from another
    /// machine, other without avahi-publish.
    explicit Announcement(const std::vector<std::string>& addresses);
    Announcement(const Announcement&) = delete;
    ~Announcement();

    /// Reports on stderr, once, if avahi-publish has ended.
    void check();

private:
    int process_ = -1;
};

} // namespace iio_stream::cli
