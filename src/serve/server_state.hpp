// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/server.hpp"
#include "serve/capture.hpp"
#include "serve/host_timeout.hpp"
#include "serve/playback_device.hpp"
#include "serve/tree.hpp"
#include "serve/write_allowlist.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace iio_stream::serve {

/// The state that all clients share.
/// Thread: any.
class ServerState {
public:
    /// A reader, with the counters that its client's thread updates.
    struct OpenBuffer {
        ServedReader shown; ///< statistics, except for those that the members below provide
        std::shared_ptr<Capture> capture;
        std::shared_ptr<ReaderQueue> queue;
        std::atomic<std::uint64_t> sent = 0; ///< samples
        std::atomic<bool> picks = false; ///< its channels are extracted from the captured samples
        /// Why the kernel copies the samples; nullptr: they are sent in place.
        std::atomic<const char*> why_copied = nullptr;
    };

    explicit ServerState(const ServerConfig& config)
        : write_allowlist(config.allow), memory_(config.memory)
    {}

    const WriteAllowlist write_allowlist;

    std::shared_ptr<const Tree> tree() const;
    std::shared_ptr<const Tree> renew_tree();
    /// Returns the timeout that all connections from that host share. It lives until the last of
    /// them ends.
    std::shared_ptr<HostTimeout> timeout_of(const std::string& host);
    void note_refused(const std::string& name);

    std::shared_ptr<OpenBuffer> open(const std::string& peer, const Tree::Device& device,
                                     const Capture::Wanted& wanted);
    void close(const std::shared_ptr<OpenBuffer>& open) noexcept;
    /// `wanted` contains the client, the device, the channels and the cyclic flag. Throws Error,
    /// with EBUSY if another client has opened the device for playback.
    std::shared_ptr<PlaybackDevice> open_playback(ServedPlayer wanted, std::uint64_t samples);
    void close_playback(const std::shared_ptr<PlaybackDevice>& playback) noexcept;
    /// Sets the number of blocks for the next open_playback() of that device.
    void set_buffers(const std::string& id, std::uint64_t count);
    /// Adds the devices, readers, players and refusals.
    void add_to(ServerStats& stats) const;

private:
    std::shared_ptr<Capture> capture_of(const std::string& id);

    const std::size_t memory_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Tree> tree_ = Tree::read();
    std::map<std::string, std::weak_ptr<HostTimeout>> timeouts_; ///< by host
    std::map<std::string, std::shared_ptr<Capture>> captures_;   ///< by the device's id
    std::deque<std::shared_ptr<OpenBuffer>> open_;
    std::deque<ServedReader> ended_;
    std::map<std::string, std::shared_ptr<PlaybackDevice>>
        playback_devices_; ///< by the device's id; null while it is being opened or closed
    std::condition_variable playback_closed_;
    std::deque<ServedPlayer> ended_players_;
    std::map<std::string, std::size_t> buffers_; ///< by the device's id
    std::deque<std::string> refused_;
    std::uint64_t readers_ = 0, players_ = 0;
};

} // namespace iio_stream::serve
