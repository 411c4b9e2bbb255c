// SPDX-License-Identifier: MIT
#pragma once

#include "serve/playback_client.hpp"
#include "serve/sender.hpp"
#include "serve/server_state.hpp"
#include "serve/wire.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace iio_stream::serve {

/// Serves one client, from its first line to its last.
/// Thread: one, its own.
class Client {
public:
    /// `idle_ns` is set to the time (CLOCK_MONOTONIC) since which the client has had no open buffer
    /// and no request; 0: it is busy.
    Client(ServerState& state, Wire& wire, std::atomic<std::int64_t>& idle_ns);
    Client(const Client&) = delete;
    ~Client();

    /// Returns when the client ends the connection. Throws Disconnected if the connection breaks or
    /// the server stops.
    void run();

private:
    void begin_wait();
    /// Returns false if the client ends the connection.
    bool answer(const Request& request);
    /// Sends a line with a number: a length, 0, or a negative errno.
    void send_number(std::int64_t number);
    void print();
    void read_attribute(const Request& request);
    std::string all_attributes(const Tree& tree, const Tree::Device& device,
                               const Request& request) const;
    void write_attribute(const Request& request);
    void get_trigger(const Request& request);
    void set_trigger(const Request& request);
    void open(const Request& request);
    void close(const Request& request);
    void read_buffer(const Request& request);
    void write_buffer(const Request& request);
    void set_buffers(const Request& request);
    bool may_write(const Tree::Device& device, const Request& request);
    void set_timeout(std::uint64_t ms);
    std::int64_t timeout_ns() const noexcept
    {
        return own_timeout_ns_ != 0 ? own_timeout_ns_ : host_timeout_->ns();
    }

    ServerState& state_;
    Wire& wire_;
    std::atomic<std::int64_t>& idle_ns_;
    const std::shared_ptr<HostTimeout> host_timeout_;
    std::int64_t own_timeout_ns_ = 0;                        ///< set by this connection; 0: not set
    std::map<std::string, std::unique_ptr<Sender>> readers_; ///< by the device's id
    std::map<std::string, std::unique_ptr<PlaybackClient>>
        playback_clients_; ///< by the device's id
};

} // namespace iio_stream::serve
