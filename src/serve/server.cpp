// SPDX-License-Identifier: MIT
#include "iio_stream/server.hpp"

#include "serve/client.hpp"
#include "serve/server_state.hpp"
#include "serve/wire.hpp"
#include "sys/event.hpp"
#include "sys/machine.hpp"
#include "sys/named_thread.hpp"
#include "sys/network/tcp.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <list>
#include <sys/socket.h>
#include <thread>

namespace iio_stream {

namespace {

constexpr const char* kPort = "30431"; // the port of iiod
// A client that has been idle this long can be disconnected to make room for another.
constexpr std::int64_t kIdleNs = 10'000'000'000;
// The listening sockets stay readable while no descriptor is free, so poll() would return at once.
// The pause has a time limit because other programs free descriptors, too (ENFILE).
constexpr std::int64_t kAcceptPauseNs = 500'000'000;
// A client uses its socket, a duplicate through which the server can shut it down, and, as a
// reader, an eventfd and an io_uring. The other descriptors are the standard streams, the listening
// sockets, the server's events, and a device with its blocks.
constexpr std::size_t kFilesPerClient = 4, kOtherFiles = 64;

bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// Returns `clients`. Throws if this process cannot open enough files for that many.
std::size_t checked_clients(std::size_t clients)
{
    const std::size_t wanted = kFilesPerClient * clients + kOtherFiles;
    if (sys::room_for_open_files(wanted) >= wanted)
        return clients;
    throw Error(Fault::usage, EMFILE, "serve", std::to_string(clients) + " clients",
                "they need about " + std::to_string(wanted) +
                    " file descriptors, and this process may open " +
                    std::to_string(sys::open_files_limit()),
                "a smaller --clients, or a higher limit: ulimit -n " + std::to_string(wanted));
}

} // namespace

struct Server::Impl {
    struct Connection {
        std::thread thread;   ///< serves this client
        sys::UniqueFd socket; ///< duplicate of the client's socket, for shutting it down
        std::atomic<std::int64_t> idle_ns = 0; ///< time at which it became idle; 0 while busy
        std::atomic<bool> left = false;        ///< the connection has ended
    };

    explicit Impl(const ServerConfig& config)
        : most(checked_clients(config.clients)),
          in_place(config.send_in_place),
          state(config),
          listener(sys::HostPort::parse("--listen ", config.listen, kPort),
                   "is iiod running? --listen '*:PORT' or :PORT selects another port")
    {}
    ~Impl()
    {
        stop.set();
        for (Connection& connection : live)
            connection.thread.join();
    }

    void accept_at(int fd);
    void pause_accepting() noexcept;
    void serve(Connection& connection, sys::UniqueFd fd) noexcept;
    void reap();
    void close_longest_idle();

    const std::size_t most;
    const bool in_place;
    serve::ServerState state;
    sys::Listener listener;
    sys::Event stop;
    sys::Event left; ///< set when a connection has ended
    std::list<Connection> live;
    std::uint64_t connections = 0, turned_away = 0, descriptor_shortages = 0;
    /// Time at which accepting resumes after a descriptor shortage.
    std::int64_t accepts_from_ns = 0;
};

void Server::Impl::serve(Connection& connection, sys::UniqueFd fd) noexcept
{
    const sys::NamedThread name("iios-client");
    sys::block_write_signals();
    try {
        serve::Wire wire(std::move(fd), stop.fd(), in_place);
        serve::Client(state, wire, connection.idle_ns).run();
    } catch (const std::exception&) { // ends this connection only
    }
    ::shutdown(connection.socket.get(), SHUT_RDWR); // the duplicate has kept it open
    connection.left = true;
    left.set();
}

void Server::Impl::reap()
{
    left.clear();
    live.remove_if([](Connection& connection) {
        if (connection.left)
            connection.thread.join();
        return connection.left.load();
    });
}

// Disconnects the client that has been idle longest, if it has been idle for kIdleNs, to make room
// for another.
void Server::Impl::close_longest_idle()
{
    Connection* longest = nullptr;
    for (Connection& connection : live)
        if (const std::int64_t since = connection.idle_ns;
            since != 0 && sys::monotonic_ns() - since >= kIdleNs)
            if (longest == nullptr || since < longest->idle_ns)
                longest = &connection;
    if (longest == nullptr)
        return;
    ::shutdown(longest->socket.get(), SHUT_RDWR);
    const std::int64_t deadline = sys::after(1'000'000'000);
    while (!longest->left && sys::wait_for(left.fd(), POLLIN, deadline))
        if (!longest->left)
            left.clear(); // another connection has ended
    reap();
}

void Server::Impl::pause_accepting() noexcept
{
    accepts_from_ns = sys::after(kAcceptPauseNs);
    descriptor_shortages += 1;
}

void Server::Impl::accept_at(int fd)
{
    // Accepts nothing if an earlier listener in this round ran out of descriptors.
    if (sys::monotonic_ns() < accepts_from_ns)
        return;
    sys::UniqueFd client = sys::Listener::accept(fd);
    if (!client.valid()) {
        if (is_shortage(errno))
            pause_accepting();
        return;
    }
    if (live.size() >= most)
        close_longest_idle();
    if (live.size() >= most) {
        turned_away += 1;
        return;
    }
    Connection& connection = live.emplace_back();
    connection.socket = sys::UniqueFd(::fcntl(client.get(), F_DUPFD_CLOEXEC, 0));
    if (!connection.socket.valid()) { // without it the server cannot end the connection
        live.pop_back();
        turned_away += 1;
        return pause_accepting();
    }
    try {
        connection.thread = std::thread(
            [this, &connection](sys::UniqueFd own) { serve(connection, std::move(own)); },
            std::move(client));
        connections += 1;
    } catch (const std::system_error&) { // no thread could be created
        live.pop_back();
        turned_away += 1;
    }
}

Server::Server(ServerConfig config) : impl_(std::make_unique<Impl>(config)) {}

Server::~Server() = default;

std::vector<std::string> Server::addresses() const
{
    return impl_->listener.addresses();
}

bool Server::serve(std::chrono::nanoseconds budget)
{
    Impl& s = *impl_;
    const std::int64_t deadline = sys::after(budget.count());
    std::vector<pollfd> fds{{s.stop.fd(), POLLIN, 0}, {s.left.fd(), POLLIN, 0}};
    for (const int fd : s.listener.fds())
        fds.push_back({fd, POLLIN, 0});
    for (;;) {
        const bool accepts = sys::monotonic_ns() >= s.accepts_from_ns;
        for (std::size_t i = 2; i < fds.size(); ++i)
            fds[i].events = accepts ? POLLIN : 0;
        if (!sys::wait_for(fds, accepts ? deadline : std::min(deadline, s.accepts_from_ns))) {
            if (!accepts && sys::monotonic_ns() < deadline)
                continue;
            return false;
        }
        if (fds[0].revents != 0)
            return true;
        if (fds[1].revents != 0) {
            s.reap();
            s.accepts_from_ns = 0;
        }
        for (std::size_t i = 2; i < fds.size(); ++i)
            if (fds[i].revents != 0)
                s.accept_at(fds[i].fd);
        if (sys::monotonic_ns() >= deadline)
            return false;
    }
}

ServerStats Server::stats() const
{
    ServerStats stats;
    stats.clients = impl_->live.size();
    stats.connections = impl_->connections;
    stats.turned_away = impl_->turned_away;
    stats.descriptor_shortages = impl_->descriptor_shortages;
    impl_->state.add_to(stats);
    return stats;
}

void Server::request_stop() noexcept
{
    impl_->stop.set();
}

} // namespace iio_stream
