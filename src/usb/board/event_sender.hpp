// SPDX-License-Identifier: MIT
#pragma once

#include "sys/disk/io_queue.hpp"
#include "sys/unique_fd.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace iio_stream::usb {

/// Sends a board's events to its host. If they are not read, a few are kept, and the last one; the
/// others are counted.
/// Owns: the endpoint's file, and what is in flight in it.
/// Thread: one at a time.
class EventSender {
public:
    explicit EventSender(const std::string& path);

    /// An event as in docs/usb-protocol.md; text in it is cut to fit. Never waits.
    void send(nlohmann::ordered_json event) noexcept;
    /// The same for the end of the stream, which always has room.
    void send_end(nlohmann::ordered_json event) noexcept;
    bool all_read();                                 ///< by the host, or lost with the endpoint
    int fd() const noexcept { return queue_->fd(); } ///< readable when something has been read

private:
    static constexpr std::size_t kDepth = 8 + 1; ///< the last one is reserved for the end

    void take();
    void send_within(std::size_t slots, nlohmann::ordered_json& event);

    sys::UniqueFd endpoint_;
    std::unique_ptr<sys::IoQueue> queue_; ///< destroyed before the file closes
    /// For each, how many dropped ones it reports.
    std::array<std::optional<std::uint64_t>, kDepth> under_way_{};
    std::uint64_t dropped_ = 0; ///< since the last one reported
};

} // namespace iio_stream::usb
