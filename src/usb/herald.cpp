// SPDX-License-Identifier: MIT
#include "usb/herald.hpp"

#include "iio_stream/error.hpp"
#include "usb/descriptors.hpp"
#include "usb/endpoint_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace iio_stream::usb {

namespace {

constexpr std::size_t kSmallestPacket = 64; ///< of bulk endpoints at full speed

} // namespace

Herald::Herald(const std::string& path)
    : endpoint_(open_endpoint(path)), queue_(sys::make_aio_queue(endpoint_.get(), path, kDepth))
{}

void Herald::take()
{
    while (const auto done = queue_->take())
        under_way_.at(done->tag) = false;
}

bool Herald::all_read()
{
    take();
    return std::none_of(under_way_.begin(), under_way_.end(), [](bool one) { return one; });
}

void Herald::tell(nlohmann::ordered_json event) noexcept
try {
    take();
    const auto free = std::find(under_way_.begin(), under_way_.end(), false);
    if (free == under_way_.end()) {
        ++dropped_;
        return;
    }
    if (dropped_ != 0)
        event["dropped"] = dropped_;
    std::string text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (std::size_t keep = kLongestNews; text.size() >= kLongestNews; keep /= 2) {
        event["text"] = event.value("text", "").substr(0, keep); // an error's
        text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    if (text.size() % kSmallestPacket == 0)
        text += ' '; // so that a short packet ends it at each speed
    const auto slot = static_cast<std::size_t>(free - under_way_.begin());
    queue_->write(std::as_bytes(std::span(text)), 0, 0, slot); // FunctionFS copies it at once
    *free = true;
    dropped_ = 0;
} catch (const std::exception&) {
    ++dropped_; // the endpoint is disabled
}

} // namespace iio_stream::usb
