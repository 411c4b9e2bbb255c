// SPDX-License-Identifier: MIT
#include "serve/server_state.hpp"

#include <algorithm>

namespace iio_stream::serve {

namespace {

constexpr std::uint32_t kDefaultTimeoutMs = 2500; // half of libiio's own, as it tells it

ServedReader shown_now(const ServerState::OpenBuffer& open)
{
    ServedReader reader = open.shown;
    reader.samples = open.sent;
    reader.dropped_samples = open.feed->dropped();
    reader.hop.from = "block";
    reader.hop.to = reader.peer;
    reader.hop.mechanism = open.picks ? "pick, send" : "send";
    reader.hop.copies = open.picks ? 2 : 1;
    reader.hop.reason = open.picks ? "other readers want further channels, and the kernel copies what it sends"
                                   : "the kernel copies what it sends";
    return reader;
}

} // namespace

std::shared_ptr<const Tree> ServerState::tree() const
{
    const std::lock_guard lock(mutex_);
    return tree_;
}

std::shared_ptr<const Tree> ServerState::renew_tree()
{
    auto tree = Tree::read();
    const std::lock_guard lock(mutex_);
    return tree_ = std::move(tree);
}

ServerState::Timeout ServerState::timeout_of(const std::string& host)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(timeouts_, [](const auto& entry) { return entry.second.expired(); });
    auto timeout = timeouts_[host].lock();
    if (timeout == nullptr)
        timeouts_[host] = timeout = std::make_shared<std::atomic<std::uint32_t>>(kDefaultTimeoutMs);
    return timeout;
}

void ServerState::note_refused(const std::string& name)
{
    const std::lock_guard lock(mutex_);
    if (std::find(refused_.begin(), refused_.end(), name) == refused_.end() &&
        refused_.size() < ServerStats::kMostRefused)
        refused_.push_back(name);
}

// Of devices that are in the tree: a client cannot make more of them.
std::shared_ptr<Capture> ServerState::capture_of(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    auto& capture = captures_[id];
    if (capture == nullptr)
        capture = std::make_shared<Capture>(id, memory_);
    return capture;
}

std::shared_ptr<ServerState::OpenBuffer> ServerState::open(const std::string& peer, const Tree::Device& device,
                                         const std::vector<std::string>& channels, std::uint64_t samples)
{
    auto open = std::make_shared<OpenBuffer>();
    open->capture = capture_of(device.node->id);
    open->feed = open->capture->join(channels, samples);
    const std::lock_guard lock(mutex_);
    open->shown = {.number = ++readers_, .peer = peer, .device = device.node->id, .channels = channels};
    open_.push_back(open);
    return open;
}

void ServerState::close(const std::shared_ptr<OpenBuffer>& open) noexcept
{
    open->capture->leave(open->feed);
    const std::lock_guard lock(mutex_);
    std::erase(open_, open);
    ended_.push_back(shown_now(*open));
    ended_.back().ended = true;
    if (ended_.size() > ServerStats::kMostEnded)
        ended_.pop_front();
}

void ServerState::add_to(ServerStats& stats) const
{
    const std::lock_guard lock(mutex_);
    for (const auto& [id, capture] : captures_)
        stats.devices.push_back(capture->stats());
    stats.readers.assign(ended_.begin(), ended_.end());
    for (const auto& open : open_)
        stats.readers.push_back(shown_now(*open));
    stats.refused.assign(refused_.begin(), refused_.end());
}

} // namespace iio_stream::serve
