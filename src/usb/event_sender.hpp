// SPDX-License-Identifier: MIT
#pragma once

#include "sys/io_queue.hpp"
#include "sys/unique_fd.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace iio_stream::usb {

/// Sends a board's news to its host. Of those that nobody reads a few are kept, and the end; the rest
/// are counted.
/// Owns: the endpoint's file, and what is under way in it.
/// Thread: one at a time.
class EventSender {
public:
    explicit EventSender(const std::string& path);

    /// The event as docs/usb-protocol.md has it; text in it is cut to fit. Never waits.
    void tell(nlohmann::ordered_json event) noexcept;
    /// The same of the stream's end, for which there is room always.
    void tell_end(nlohmann::ordered_json event) noexcept;
    bool all_read(); ///< by the host, or lost with the endpoint
    int fd() const noexcept { return queue_->fd(); } ///< readable when something has been

private:
    static constexpr std::size_t kDepth = 8 + 1; ///< the last one is the end's

    void take();
    void tell_within(std::size_t slots, nlohmann::ordered_json& event);

    sys::UniqueFd endpoint_;
    std::unique_ptr<sys::IoQueue> queue_; ///< ended before the file closes
    /// Of each how many dropped ones it tells.
    std::array<std::optional<std::uint64_t>, kDepth> under_way_{};
    std::uint64_t dropped_ = 0; ///< since one was told
};

} // namespace iio_stream::usb
