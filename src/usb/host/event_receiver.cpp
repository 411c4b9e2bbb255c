// SPDX-License-Identifier: MIT
#include "usb/host/event_receiver.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "usb/descriptors.hpp"

#include <nlohmann/json.hpp>

namespace iio_stream::usb {

std::optional<BoardEvent> parse_board_event(std::string_view text)
try {
    const auto json = nlohmann::json::parse(text);
    const auto& id = json.at("stream_id");
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > UINT32_MAX)
        return std::nullopt;
    return BoardEvent{detail::printable(json.at("event").get<std::string>()),
                      id.get<std::uint32_t>(), detail::printable(json.value("text", ""))};
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

EventReceiver::EventReceiver(BoardShare& board) : board_(board), bytes_(kLongestEvent)
{
    post();
}

EventReceiver::~EventReceiver()
{
    take_back(board_, [this](auto&& step) { step(transfer_); });
}

// Without memory for the transfer, or without the board, there are no events.
void EventReceiver::post()
{
    try {
        if (board_->events_in() != 0)
            (void)submit(board_, transfer_, board_->events_in(), bytes_.data(), bytes_.size(),
                         "receive events from");
    } catch (const Error&) { // the reader of the samples reports the error
    }
}

std::optional<BoardEvent> EventReceiver::take()
{
    while (transfer_.done.exchange(false)) {
        if (transfer_.raw->status != LIBUSB_TRANSFER_COMPLETED)
            return std::nullopt; // no more events until the stream is restarted
        const std::string text(bytes_.begin(), bytes_.begin() + transfer_.raw->actual_length);
        post();
        if (auto event = parse_board_event(text))
            return event;
    }
    return std::nullopt;
}

} // namespace iio_stream::usb
