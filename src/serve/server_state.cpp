// SPDX-License-Identifier: MIT
#include "serve/server_state.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace iio_stream::serve {

namespace {

// Blocks of a playback; kBuffers is libiio's default.
constexpr std::size_t kBuffers = 4, kMostBuffers = 64;
// How long to wait until a client that has just disconnected has closed the device.
constexpr std::chrono::milliseconds kTimeout{200};

ServedReader stats_of(const ServerState::OpenBuffer& open)
{
    ServedReader reader = open.shown;
    reader.samples = open.sent;
    reader.dropped_samples = open.queue->dropped();
    reader.restarts = open.queue->restarts();
    reader.hop.from = "block";
    reader.hop.to = reader.peer;
    const char* const why_copied = open.why_copied;
    reader.hop.mechanism = open.picks              ? "pick, send"
                           : why_copied != nullptr ? "send"
                                                   : "send in place";
    reader.hop.copies = open.picks ? 2 : why_copied != nullptr ? 1 : 0;
    if (open.picks)
        reader.hop.reason =
            "other readers need further channels, and the kernel copies what it sends";
    else if (why_copied != nullptr)
        reader.hop.reason = why_copied;
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

std::shared_ptr<HostTimeout> ServerState::timeout_of(const std::string& host)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(timeouts_, [](const auto& entry) { return entry.second.expired(); });
    auto timeout = timeouts_[host].lock();
    if (timeout == nullptr)
        timeouts_[host] = timeout = std::make_shared<HostTimeout>();
    return timeout;
}

void ServerState::note_refused(const std::string& name)
{
    const std::lock_guard lock(mutex_);
    if (std::find(refused_.begin(), refused_.end(), name) == refused_.end() &&
        refused_.size() < ServerStats::kMostRefused)
        refused_.push_back(name);
}

// Callers pass only ids of devices in the tree, so clients cannot create further entries.
std::shared_ptr<Capture> ServerState::capture_of(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    auto& capture = captures_[id];
    if (capture == nullptr)
        capture = std::make_shared<Capture>(id, memory_);
    return capture;
}

std::shared_ptr<ServerState::OpenBuffer> ServerState::open(const std::string& peer,
                                                           const Tree::Device& device,
                                                           const Capture::Wanted& wanted)
{
    auto open = std::make_shared<OpenBuffer>();
    open->capture = capture_of(device.node->id);
    open->queue = open->capture->join(wanted);
    const std::lock_guard lock(mutex_);
    open->shown = {
        .number = ++readers_, .peer = peer, .device = device.node->id, .channels = wanted.channels};
    open_.push_back(open);
    return open;
}

void ServerState::close(const std::shared_ptr<OpenBuffer>& open) noexcept
{
    open->capture->leave(open->queue);
    const std::lock_guard lock(mutex_);
    std::erase(open_, open);
    ended_.push_back(stats_of(*open));
    ended_.back().ended = true;
    if (ended_.size() > ServerStats::kMostEnded)
        ended_.pop_front();
}

std::shared_ptr<PlaybackDevice> ServerState::open_playback(ServedPlayer wanted,
                                                           std::uint64_t samples)
{
    const std::string id = wanted.device;
    std::size_t buffers = kBuffers;
    {
        std::unique_lock lock(mutex_);
        const auto is_free = [&] { return !playback_devices_.contains(id); };
        if (!playback_closed_.wait_for(lock, kTimeout, is_free))
            throw Error(Fault::other, EBUSY, "play", id, "another client is playing to it");
        playback_devices_[id] = nullptr; // reserves the device while it is being opened
        if (const auto chosen = buffers_.find(id); chosen != buffers_.end())
            buffers = chosen->second;
    }
    try {
        auto playback = std::make_shared<PlaybackDevice>();
        playback->shown = std::move(wanted);
        playback->begin(samples, buffers, memory_);
        const std::lock_guard lock(mutex_);
        playback->shown.number = ++players_;
        return playback_devices_[id] = playback;
    } catch (...) {
        const std::lock_guard lock(mutex_);
        playback_devices_.erase(id);
        playback_closed_.notify_all();
        throw;
    }
}

void ServerState::close_playback(const std::shared_ptr<PlaybackDevice>& playback) noexcept
{
    playback->drain();
    {
        const std::lock_guard lock(mutex_);
        playback_devices_[playback->shown.device] = nullptr;
        ended_players_.push_back(playback->stats());
        ended_players_.back().ended = true;
        if (ended_players_.size() > ServerStats::kMostEnded)
            ended_players_.pop_front();
    }
    playback->writer.reset();
    const std::lock_guard lock(mutex_);
    playback_devices_.erase(playback->shown.device);
    playback_closed_.notify_all();
}

void ServerState::set_buffers(const std::string& id, std::uint64_t count)
{
    const std::lock_guard lock(mutex_);
    buffers_[id] = static_cast<std::size_t>(std::clamp<std::uint64_t>(count, 2, kMostBuffers));
}

void ServerState::add_to(ServerStats& stats) const
{
    const std::lock_guard lock(mutex_);
    for (const auto& [id, capture] : captures_)
        stats.devices.push_back(capture->stats());
    stats.readers.assign(ended_.begin(), ended_.end());
    for (const auto& open : open_)
        stats.readers.push_back(stats_of(*open));
    stats.players.assign(ended_players_.begin(), ended_players_.end());
    for (const auto& [id, playback] : playback_devices_)
        if (playback != nullptr)
            stats.players.push_back(playback->stats());
    stats.refused.assign(refused_.begin(), refused_.end());
}

} // namespace iio_stream::serve
