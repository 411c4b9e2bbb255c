// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::test {

/// What the cable's other end does next on the endpoint that brings samples.
struct UsbSend {
    std::vector<std::byte> bytes{}; ///< in packets; one that is shorter than the others is the last
    bool zero_packet = false;       ///< after whole packets, an empty one
    bool stall = false;             ///< instead: the endpoint is halted
    bool leave = false;             ///< instead: the board is gone, and pending requests fail
};

/// A board on the other end of libusb, as long as it lives: the test programs have these functions
/// of libusb's from here. It answers GET_INFO and START, and sends what `next` says whenever the
/// host asks for more than it has; nullopt: nothing yet.
/// Thread: any calls libusb; `next` is called by the one that handles events.
class FakeUsb {
public:
    FakeUsb(std::string info, std::uint32_t stream_id,
            std::function<std::optional<UsbSend>()> next);
    FakeUsb(const FakeUsb&) = delete;
    ~FakeUsb();
    void miss_stops(int count); ///< that many STOPs time out
    int stops() const;          ///< that were received
    void hang_starts();         ///< no START has an end from here on
    int starts() const;         ///< that were requested
};

} // namespace iio_stream::test
