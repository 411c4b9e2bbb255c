// SPDX-License-Identifier: MIT
#include "iio_stream/error.hpp"
#include "serve/client.hpp"

#include <cerrno>
#include <charconv>

namespace iio_stream::serve {

namespace {

using Channels = std::vector<const iio::DeviceNode::Channel*>;

// The scan elements of a mask: bit 0 of the last word is the device's first channel. Empty where
// the mask is wrong.
Channels channels_of(const iio::DeviceNode& node, const std::string& mask)
{
    constexpr std::size_t kDigits = 8, kBits = 32; // of a word
    Channels found;
    const std::size_t words = (node.channels.size() + kBits - 1) / kBits;
    if (mask.size() != words * kDigits)
        return found;
    for (std::size_t i = 0; i < node.channels.size(); ++i) {
        const char* digits = mask.data() + (words - 1 - i / kBits) * kDigits;
        std::uint32_t word = 0;
        if (const auto [end, error] = std::from_chars(digits, digits + kDigits, word, 16);
            error != std::errc() || end != digits + kDigits)
            return {};
        if ((word >> i % kBits & 1) != 0 && node.channels[i].scan_element)
            found.push_back(&node.channels[i]);
    }
    return found;
}

} // namespace

void Client::open(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    const Channels channels = channels_of(*device->node, request.mask);
    if (channels.empty() || request.number == 0)
        return say(-EINVAL);
    const std::string& id = device->node->id;
    if (readers_.contains(id) || players_.contains(id))
        return say(-EBUSY);
    std::vector<std::string> names;
    for (const auto* channel : channels)
        names.push_back(channel->id);
    if (!channels[0]->output) {
        readers_[id] = std::make_unique<Sender>(
            state_, state_.open(wire_.peer(), *device, names, request.number), request.mask, wire_);
        return say(0);
    }
    if (!may(*device, request))
        return say(-EACCES);
    players_[id] = std::make_unique<Player>(
        state_,
        state_.open_output(
            {.peer = wire_.peer(), .device = id, .channels = names, .cyclic = request.cyclic},
            request.number));
    say(0);
} catch (const Gone&) {
    throw;
} catch (const Error& error) {
    say(-error.code().value());
}

void Client::close(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    say(readers_.erase(device->node->id) + players_.erase(device->node->id) == 0 ? -ENXIO : 0);
}

void Client::read_buffer(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    const auto reader = readers_.find(device->node->id);
    if (reader == readers_.end())
        return say(-EBADF);
    reader->second->send(request.number, timeout_ns());
} catch (const Gone&) {
    throw;
} catch (const Error& error) {
    say(-error.code().value());
}

void Client::write_buffer(const Request& request)
try {
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    const auto player = players_.find(device->node->id);
    if (player == players_.end())
        return say(-EBADF);
    player->second->play(wire_, request.number, timeout_ns());
} catch (const Gone&) {
    throw;
} catch (const Error& error) {
    say(-error.code().value());
}

// The engine's own number serves all readers.
void Client::set_buffers(const Request& request)
{
    const auto tree = state_.tree();
    const Tree::Device* device = tree->find(request.device);
    if (device == nullptr)
        return say(-ENODEV);
    if (request.number == 0)
        return say(-EINVAL);
    state_.set_buffers(device->node->id, request.number);
    say(0);
}

} // namespace iio_stream::serve
