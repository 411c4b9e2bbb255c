// SPDX-License-Identifier: MIT
// The input from a client of `iio-stream serve`.
#include "fuzz/text.hpp"
#include "serve/request.hpp"

namespace iio_stream::fuzz {

void serve_request(std::span<const std::byte> input)
{
    const auto request = serve::parse_request(text_of(input));
    if (!request)
        return;
    using serve::Verb;
    const bool alone = request->verb <= Verb::zprint || request->verb == Verb::timeout;
    holds(alone == request->device.empty(), "a request has a device, unless it concerns none");
    holds(request->device.find_first_of(" \t\r\n") == std::string::npos, "a word has no blanks");
    if (request->verb == Verb::open)
        holds(!request->mask.empty(), "a buffer has channels");
    const bool of_channel =
        request->owner == serve::Owner::input || request->owner == serve::Owner::output;
    holds(of_channel == !request->channel.empty(), "channel requests name the channel");
}

} // namespace iio_stream::fuzz
