// SPDX-License-Identifier: MIT
#pragma once

#include "usb/host/transfer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::usb {

/// An event from a board, made safe for a terminal.
struct BoardEvent {
    std::string event; ///< "overflow", "stop" or "error"
    std::uint32_t stream_id = 0;
    std::string text = {}; ///< for an error
};
/// Returns nullopt if the text is not a valid event.
std::optional<BoardEvent> parse_board_event(std::string_view text);

/// Receives a board's events on the host.
/// Owns: the transfer.
/// Thread: one at a time.
class EventReceiver {
public:
    explicit EventReceiver(BoardShare& board);
    EventReceiver(const EventReceiver&) = delete;
    ~EventReceiver();

    /// Returns the next event that has arrived; nullopt if there is none.
    std::optional<BoardEvent> take();

private:
    void post();

    BoardShare& board_;
    Transfer transfer_;
    std::vector<unsigned char> bytes_;
};

} // namespace iio_stream::usb
