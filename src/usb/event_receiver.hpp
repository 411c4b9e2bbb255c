// SPDX-License-Identifier: MIT
#pragma once

#include "usb/transfer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iio_stream::usb {

/// What a board tells besides the samples, made fit for a terminal.
struct News {
    std::string event; ///< "overflow", "stop" or "error"
    std::uint32_t stream_id = 0;
    std::string text = {}; ///< of an error
};
/// Nothing for what is no news.
std::optional<News> parse_news(std::string_view text);

/// Hears a board's news on its host.
/// Owns: the transfer. Thread: one at a time.
class EventReceiver {
public:
    explicit EventReceiver(BoardShare& board);
    EventReceiver(const EventReceiver&) = delete;
    ~EventReceiver();

    /// The next of the news that have come.
    std::optional<News> take();

private:
    void post();

    BoardShare& board_;
    Transfer transfer_;
    std::vector<unsigned char> bytes_;
};

} // namespace iio_stream::usb
