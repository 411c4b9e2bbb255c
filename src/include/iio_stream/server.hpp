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

/// The address of a Server, the permissions of its clients, and its limits.
struct ServerConfig {
    /// "HOST", "HOST:PORT", "[IPv6]:PORT" or ":PORT": the addresses to listen on. Port 0 selects
    /// any free port; the default is iiod's port, 30431. With "localhost", the server accepts only
    /// connections from this machine; with "*", it listens on all addresses of this machine.
    std::string listen = "localhost";
    /// What clients are allowed to write: "[DEVICE/][CHANNEL/]NAME" for attributes,
    /// "buffer:DEVICE/NAME", "debug:DEVICE/NAME", "trigger:DEVICE", and "play:DEVICE" for samples.
    /// The shell wildcards * ? [] are supported.
    std::vector<std::string> allow = {};
    std::size_t clients =
        64; ///< maximum number of simultaneous connections; beyond it, a new client replaces a
            ///< connection that has been idle for 10 s, or is rejected
    std::size_t memory = 64 << 20; ///< bytes of block memory for each device that streams
    /// Lets network cards with scatter-gather read the blocks directly (io_uring's SEND_ZC).
    /// ServedReader::hop shows whether they do. False: the kernel copies the samples.
    bool send_in_place = true;
};

/// A device that a Server captures or has captured.
struct ServedDevice {
    std::string id;                         ///< "iio:device0"
    std::vector<std::string> channels = {}; ///< channels captured now; empty while no client reads
    std::vector<Hop> route = {};            ///< how samples got into the blocks at the last start
    std::size_t readers = 0;                ///< current number of readers
    std::uint64_t starts =
        0; ///< starts of the capture: one for its first reader, and one for each further channel
    std::uint64_t samples = 0, blocks = 0; ///< captured samples and blocks
    GapTotals gaps = {};                   ///< losses of the device over all starts
    /// Number of blocks after which the readers held all blocks but those of the device, and none
    /// of them was slower than the others. If this lasts, the device waits and loses samples.
    std::uint64_t waits = 0;
};

/// A client that reads from a device through an open buffer.
struct ServedReader {
    std::uint64_t number = 0; ///< counts all readers of the server, from 1
    std::string peer;         ///< "192.168.2.1:50123"
    std::string device;       ///< id of the device
    std::vector<std::string> channels = {};
    Hop hop = {};                      ///< how samples get from the blocks to the client
    std::uint64_t samples = 0;         ///< samples sent
    std::uint64_t dropped_samples = 0; ///< samples captured but not sent because the client was
                                       ///< slower than another one
    /// Possible losses because the capture was restarted to add a channel for another reader. Each
    /// restart counts as one loss, which is certain if captured samples were not sent. lost_max
    /// includes the samples that the device produced during the restart; it is kUnknown if the rate
    /// is unknown.
    GapTotals restarts = {};
    bool ended = false;
};

/// A client that plays samples on a device, through an open buffer of a DAC.
struct ServedPlayer {
    std::uint64_t number = 0; ///< counts all players of the server, from 1
    std::string peer;         ///< "192.168.2.1:50123"
    std::string device;       ///< id of the device
    std::vector<std::string> channels = {};
    bool cyclic = false;         ///< it repeats the samples it received
    std::vector<Hop> route = {}; ///< how samples get from the receive blocks to the device
    std::uint64_t samples = 0;   ///< samples received
    std::uint64_t played =
        0; ///< samples played, without repetitions; samples not played by the end are dropped
    std::uint64_t underflows = 0; ///< number of times the device ran out of samples
    bool ended = false;
};

/// The counters of a Server since its start.
struct ServerStats {
    std::size_t clients = 0;       ///< clients connected now
    std::uint64_t connections = 0; ///< connections accepted
    std::uint64_t turned_away = 0; ///< connections rejected because of ServerConfig::clients or a
                                   ///< lack of resources
    /// Number of times the process had no free file descriptor for a connection. The server then
    /// stops accepting connections until a client leaves or half a second has passed.
    std::uint64_t descriptor_shortages = 0;
    std::vector<ServedDevice> devices = {};
    std::vector<ServedReader> readers =
        {}; ///< current readers, and the last kMostEnded readers that have ended
    std::vector<ServedPlayer> players = {}; ///< current and ended players, as in `readers`
    std::vector<std::string> refused =
        {}; ///< rejected writes of clients, in the syntax of ServerConfig::allow

    static constexpr std::size_t kMostEnded = 256, kMostRefused = 64;
};

/// Serves this machine's IIO devices to programs written for libiio 0.x, with the protocol of its
/// daemon, iiod. This library's engine captures each device once for all of its readers. If
/// ServerConfig::allow permits it, clients can also play samples, one client per device.
///
///     Server server({.listen = "*"});
///     while (!server.serve(std::chrono::seconds(1)))
///         show(server.stats());
///
/// Owns: its sockets, its threads (one for each client) and the captures.
/// Throws: Error, from the constructor: usage for an invalid address or rule, device if the address
/// is in use. Thread: one at a time; request_stop() can be called on any thread or in a signal
/// handler.
class IIO_STREAM_API Server {
public:
    explicit Server(ServerConfig config);
    Server(const Server&) = delete;
    ~Server(); ///< ends all connections

    std::vector<std::string> addresses() const; ///< addresses it listens on: "127.0.0.1:30431"
    /// Serves clients for `budget`. Returns true once a stop was requested.
    bool serve(std::chrono::nanoseconds budget);
    ServerStats stats() const;
    void request_stop() noexcept; ///< makes serve() return at once; clients get no further messages

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace iio_stream
