// SPDX-License-Identifier: MIT
#include "iio_stream/server.hpp"

#include "serve/client.hpp"
#include "serve/server_state.hpp"
#include "serve/wire.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"
#include "sys/tcp.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <list>
#include <sys/socket.h>
#include <thread>

namespace iio_stream {

namespace {

constexpr const char* kPort = "30431"; // iiod's
constexpr std::int64_t kIdleNs =
    10'000'000'000; // after which a client may have to make room for another

} // namespace

struct Server::Impl {
    struct Connection {
        std::thread thread;                    ///< of its own
        sys::UniqueFd socket;                  ///< another descriptor of its client's, to end it
        std::atomic<std::int64_t> idle_ns = 0; ///< since when it does nothing; 0: it does
        std::atomic<bool> left = false;        ///< it is over
    };

    explicit Impl(const ServerConfig& config)
        : most(config.clients),
          in_place(config.send_in_place),
          state(config),
          listener(sys::Place::parse("--listen ", config.listen, kPort),
                   "is iiod running? --listen '*:PORT' or :PORT takes another port")
    {}
    ~Impl()
    {
        stop.set();
        for (Connection& connection : live)
            connection.thread.join();
    }

    void accept_at(int fd);
    void serve(Connection& connection, sys::UniqueFd fd) noexcept;
    void reap();
    void give_up_idle();

    const std::size_t most;
    const bool in_place;
    serve::ServerState state;
    sys::Listener listener;
    sys::Event stop;
    sys::Event left; ///< a connection has
    std::list<Connection> live;
    std::uint64_t connections = 0, turned_away = 0;
};

void Server::Impl::serve(Connection& connection, sys::UniqueFd fd) noexcept
{
    sys::block_write_signals();
    try {
        serve::Wire wire(std::move(fd), stop.fd(), in_place);
        serve::Client(state, wire, connection.idle_ns).run();
    } catch (const std::exception&) { // its connection is over, and no other one
    }
    ::shutdown(connection.socket.get(), SHUT_RDWR); // it is still open here
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

// The client that has been idle longest has to make room: it may be one that only holds its place.
void Server::Impl::give_up_idle()
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
            left.clear(); // another one
    reap();
}

void Server::Impl::accept_at(int fd)
{
    sys::UniqueFd client = sys::Listener::accept(fd);
    if (!client.valid())
        return;
    if (live.size() >= most)
        give_up_idle();
    if (live.size() >= most) {
        turned_away += 1;
        return;
    }
    Connection& connection = live.emplace_back();
    connection.socket = sys::UniqueFd(::fcntl(client.get(), F_DUPFD_CLOEXEC, 0));
    try {
        connection.thread = std::thread(
            [this, &connection](sys::UniqueFd own) { serve(connection, std::move(own)); },
            std::move(client));
        connections += 1;
    } catch (const std::system_error&) { // no more threads
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
        if (!sys::wait_for(fds, deadline))
            return false;
        if (fds[0].revents != 0)
            return true;
        if (fds[1].revents != 0)
            s.reap();
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
    impl_->state.add_to(stats);
    return stats;
}

void Server::request_stop() noexcept
{
    impl_->stop.set();
}

} // namespace iio_stream
