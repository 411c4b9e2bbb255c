// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::test {

/// The next action of the board on the endpoint that carries samples.
struct UsbSend {
    std::vector<std::byte> bytes{}; ///< sent in packets; a packet shorter than the others ends the
                                    ///< transfer
    bool zero_packet = false;       ///< sends an empty packet after whole packets
    bool stall = false;             ///< halts the endpoint instead
    bool leave = false;             ///< removes the board instead; pending requests fail
};

/// A board at the other end of libusb while this object exists. The test programs use fake versions
/// of the libusb functions that src/usb calls. The board answers GET_INFO and START. When the host
/// requests more bytes than the board has, it sends the result of `next`; nullopt means that there
/// is nothing yet.
/// Thread: any thread calls libusb; `next` is called on the threads that submit transfers or handle
/// events.
class FakeUsb {
public:
    FakeUsb(std::string info, std::uint32_t stream_id,
            std::function<std::optional<UsbSend>()> next);
    FakeUsb(const FakeUsb&) = delete;
    ~FakeUsb();
    void miss_stops(int count); ///< makes the next `count` STOPs time out
    int stops() const;          ///< number of STOPs that were received
    void hang_starts();         ///< makes all later STARTs hang
    int starts() const;         ///< number of STARTs that were requested
};

} // namespace iio_stream::test
