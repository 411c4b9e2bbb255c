// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/stats.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace iio_stream {

/// Who may connect to a Server, and what they may do.
struct ServerConfig {
    /// "HOST", "HOST:PORT", "[IPv6]:PORT" or ":PORT": the addresses to listen at. Port 0 is any
    /// free one, port 30431 (iiod's) the default, "localhost" this machine alone, "*" every address
    /// of it.
    std::string listen = "localhost";
    /// What clients may write: "[DEVICE/][CHANNEL/]NAME" for attributes, "buffer:DEVICE/NAME",
    /// "debug:DEVICE/NAME", "trigger:DEVICE", and "play:DEVICE" for samples. Shell wildcards: * ?
    /// [].
    std::vector<std::string> allow = {};
    std::size_t clients =
        64; ///< connections at one time; above, one idle for 10 s ends, or the new one
    std::size_t memory = 64 << 20; ///< bytes of blocks for each device that streams
    /// Have network cards with scatter-gather read blocks themselves (io_uring's SEND_ZC);
    /// ServedReader::hop says whether they do. False: the kernel copies.
    bool send_in_place = true;
};

/// A device that a Server captures or has captured.
struct ServedDevice {
    std::string id;                         ///< "iio:device0"
    std::vector<std::string> channels = {}; ///< captured now; empty while no one reads
    std::vector<Hop> route = {};            ///< how samples get into the blocks, at the last start
    std::size_t readers = 0;                ///< at this moment
    std::uint64_t starts =
        0; ///< of the capture: with its first reader, and for each further channel
    std::uint64_t samples = 0, blocks = 0; ///< captured
    GapTotals gaps = {};                   ///< the device's losses, over all starts
};

/// A client's reader of a device: an open buffer.
struct ServedReader {
    std::uint64_t number = 0; ///< counts all readers of the server, from 1
    std::string peer;         ///< "192.168.2.1:50123"
    std::string device;       ///< id
    std::vector<std::string> channels = {};
    Hop hop = {};                      ///< from the blocks to the client
    std::uint64_t samples = 0;         ///< sent
    std::uint64_t dropped_samples = 0; ///< captured, but the client was too slow to take them
    /// What it may have lost because the capture started again, for a channel that another reader
    /// wants: a loss for each such start, certain if captured samples were not sent. lost_max also
    /// counts the samples of the time in between; it is kUnknown if the rate is not known.
    GapTotals restarts = {};
    bool ended = false;
};

/// A client's player of a device: an open buffer of a DAC.
struct ServedPlayer {
    std::uint64_t number = 0; ///< counts all players of the server, from 1
    std::string peer;         ///< "192.168.2.1:50123"
    std::string device;       ///< id
    std::vector<std::string> channels = {};
    bool cyclic = false;         ///< it repeats what it was given
    std::vector<Hop> route = {}; ///< from the blocks, into which they are received, to the device
    std::uint64_t samples = 0;   ///< received
    std::uint64_t played =
        0; ///< once; at the end, those that the device has not played are dropped
    std::uint64_t underflows = 0; ///< times the device ran empty
    bool ended = false;
};

/// What a Server has done so far.
struct ServerStats {
    std::size_t clients = 0;       ///< connected at this moment
    std::uint64_t connections = 0; ///< accepted
    std::uint64_t turned_away = 0; ///< above ServerConfig::clients
    /// Times that the server stopped accepting, because no file descriptor was left for a
    /// connection, until a client left or half a second passed.
    std::uint64_t descriptor_shortages = 0;
    std::vector<ServedDevice> devices = {};
    std::vector<ServedReader> readers =
        {}; ///< those at this moment, and the last kMostEnded that have ended
    std::vector<ServedPlayer> players = {}; ///< as readers
    std::vector<std::string> refused =
        {}; ///< what clients wanted to write and may not, as `allow` would have it

    static constexpr std::size_t kMostEnded = 256, kMostRefused = 64;
};

/// Serves this machine's IIO devices to programs written for libiio 0.x, by the protocol of its
/// iiod. They read samples by this library's engine: each device is captured once, for all of its
/// readers. Where `allow` says so they play samples, too: one client a device.
///
///     Server server({.listen = "*"});
///     while (!server.serve(std::chrono::seconds(1)))
///         show(server.stats());
///
/// Owns: its sockets, its threads (one for each client) and the captures.
/// Throws: Error, from the constructor: usage for an address or a rule that makes no sense, device
/// if the address is in use. Thread: one at a time; request_stop() on any thread or in a signal
/// handler.
class IIO_STREAM_API Server {
public:
    explicit Server(ServerConfig config);
    Server(const Server&) = delete;
    ~Server(); ///< ends all connections

    std::vector<std::string> addresses() const; ///< those it listens at: "127.0.0.1:30431"
    /// Serves for that long; true once a stop was requested.
    bool serve(std::chrono::nanoseconds budget);
    ServerStats stats() const;
    void request_stop() noexcept; ///< serve() returns at once, and clients are told no more

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
