// SPDX-License-Identifier: MIT
#include "usb/board/event_sender.hpp"

#include "iio_stream/error.hpp"
#include "sys/device/functionfs.hpp"
#include "usb/board/endpoint_file.hpp"
#include "usb/descriptors.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kSmallestPacket = 64; ///< size of a bulk packet at full speed

} // namespace

EventSender::EventSender(const std::string& path)
    : endpoint_(sys::ffs_open_endpoint(path)),
      queue_(sys::make_aio_queue(endpoint_.get(), path, kDepth))
{}

void EventSender::take()
{
    while (const auto done = queue_->take()) {
        const auto reported = std::exchange(under_way_.at(done->tag), std::nullopt);
        if (done->result < 0)
            dropped_ += 1 + reported.value_or(0);
    }
}

bool EventSender::all_read()
{
    take();
    return std::none_of(under_way_.begin(), under_way_.end(),
                        [](const auto& one) { return one.has_value(); });
}

void EventSender::send(nlohmann::ordered_json event) noexcept
try {
    send_within(kDepth - 1, event);
} catch (const std::exception&) {
    ++dropped_; // the endpoint is disabled
}

void EventSender::send_end(nlohmann::ordered_json event) noexcept
try {
    send_within(kDepth, event);
} catch (const std::exception&) { // the endpoint is disabled, and no event follows
}

void EventSender::send_within(std::size_t slots, nlohmann::ordered_json& event)
{
    take();
    const auto end = under_way_.begin() + static_cast<std::ptrdiff_t>(slots);
    const auto free = std::find(under_way_.begin(), end, std::nullopt);
    if (free == end) {
        ++dropped_;
        return;
    }
    if (dropped_ != 0)
        event["dropped"] = dropped_;
    std::string text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (std::size_t keep = kLongestEvent; text.size() >= kLongestEvent; keep /= 2) {
        event["text"] = event.value("text", "").substr(0, keep); // the text of an error
        text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    if (text.size() % kSmallestPacket == 0)
        text += ' '; // so that a short packet ends it at every speed
    const auto slot = static_cast<std::size_t>(free - under_way_.begin());
    queue_->write(std::as_bytes(std::span(text)), 0, 0, slot); // FunctionFS copies it at once
    *free = std::exchange(dropped_, 0);
}

} // namespace iio_stream::usb
