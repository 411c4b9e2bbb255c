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

/// Sends a board's events to its host. If the host does not read them, the first few and the last
/// one are kept; the others are only counted.
/// Owns: the endpoint's file and the events in flight.
/// Thread: one at a time.
class EventSender {
public:
    explicit EventSender(const std::string& path);

    /// Sends an event (see docs/usb-protocol.md). Truncates its text to fit. Never waits.
    void send(nlohmann::ordered_json event) noexcept;
    /// Like send(), for the event at the end of the stream, which has a slot of its own.
    void send_end(nlohmann::ordered_json event) noexcept;
    bool all_read(); ///< no event is pending: the host has read them all, or they are lost
    int fd() const noexcept { return queue_->fd(); } ///< readable when the host has read an event

private:
    static constexpr std::size_t kDepth = 8 + 1; ///< the last one is reserved for the end

    void take();
    void send_within(std::size_t slots, nlohmann::ordered_json& event);

    sys::UniqueFd endpoint_;
    std::unique_ptr<sys::IoQueue> queue_; ///< destroyed before the file closes
    /// For each event in flight, the number of dropped events that it reports.
    std::array<std::optional<std::uint64_t>, kDepth> under_way_{};
    std::uint64_t dropped_ = 0; ///< events dropped since the last report
};

} // namespace iio_stream::usb
