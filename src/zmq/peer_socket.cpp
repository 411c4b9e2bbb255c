// SPDX-License-Identifier: MIT
#include "zmq/peer_socket.hpp"

#include "sys/fail.hpp"
#include "zmq/index.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace iio_stream::zmq {

namespace {

// Returns "192.168.2.7:40312" or, at an ipc:// address, "process 1234". It is for display only.
std::string name_of_peer(int fd)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) < 0)
        return "unknown"; // the peer has disconnected
    if (ucred who{}; address.ss_family == AF_UNIX) {
        size = sizeof who;
        if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0)
            return "process " + std::to_string(who.pid);
    } else if (::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port,
                             sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        const std::string name = host;
        return (name.find(':') != name.npos ? "[" + name + "]" : name) + ":" + port;
    }
    return "unknown";
}

} // namespace

sys::UniqueFd idle_listener()
{
    sockaddr_un none{};
    none.sun_family = AF_UNIX;
    sys::UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd.valid() ||
        ::bind(fd.get(), reinterpret_cast<sockaddr*>(&none), sizeof none.sun_family) < 0 ||
        ::listen(fd.get(), 0) < 0)
        sys::fail(errno, "listen", "a socket");
    return fd;
}

PeerSocket::PeerSocket(const Context& context, const Settings& settings, const Config& config,
                       sys::FdGroup& group)
    : publishes_(settings.pattern == "pub"),
      indexed_(settings.index),
      single_(publishes_ && settings.bind),
      listens_(settings.bind),
      socket_(context, publishes_ ? ZMQ_XPUB : ZMQ_PUSH, settings.address),
      group_(group)
{
    monitor_.emplace(context, socket_,
                     ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED |
                         ZMQ_EVENT_DISCONNECTED);
    open(settings, config);
    group_.add(socket_.fd(), POLLIN);
    group_.add(monitor_->fd(), POLLIN);
    poll_events();
}

PeerSocket::~PeerSocket()
{
    close(0);
}

void PeerSocket::open(const Settings& settings, const Config& config)
{
    socket_.set(ZMQ_SNDHWM, static_cast<int>(config.queue));
    if (publishes_) {
        socket_.set(ZMQ_XPUB_VERBOSER, 1); // report every subscription and its end
        socket_.set(ZMQ_XPUB_NODROP, 1);   // report a full queue
    }
    socket_.set(ZMQ_IMMEDIATE, 1); // queue nothing for a peer that is not connected
    socket_.set(ZMQ_LINGER,
                0); // drop unread messages when a peer disconnects; close() sets the linger time
    if (settings.address.starts_with("tcp")) { // disconnect a machine that vanished
        socket_.set(ZMQ_TCP_KEEPALIVE, 1);
        socket_.set(ZMQ_TCP_MAXRT, static_cast<int>(config.timeout_ns / 1'000'000));
    }
    if (settings.curve)
        secure(socket_, *settings.curve, settings.bind);
    if (config.listener >= 0) // libzmq closes it
        socket_.set(ZMQ_USE_FD, ::fcntl(config.listener, F_DUPFD_CLOEXEC, 0));
    socket_.open(settings.bind);
}

void PeerSocket::close(std::int64_t linger_ns) noexcept
{
    if (!monitor_)
        return;
    group_.remove(monitor_->fd());
    group_.remove(socket_.fd());
    monitor_.reset();
    if (real_listener_ >= 0)
        (void)::dup3(real_listener_, own_listener_, O_CLOEXEC);
    socket_.close(peers_.empty() ? 0 : linger_ns);
}

void PeerSocket::poll_events()
{
    read_connections();
    if (publishes_)
        read_subscriptions();
    else
        (void)socket_.can(ZMQ_POLLOUT); // makes libzmq process its events
}

void PeerSocket::read_connections()
{
    while (const auto event = monitor_->next()) {
        if (event->what == ZMQ_EVENT_LISTENING) {
            own_listener_ = event->fd;
            listener_ = sys::UniqueFd(::fcntl(event->fd, F_DUPFD_CLOEXEC, 0));
            // accept() must not block, because several sockets share the listener.
            (void)::fcntl(event->fd, F_SETFL, O_NONBLOCK);
        } else if (event->what == ZMQ_EVENT_DISCONNECTED) {
            std::erase(peers_, event->fd);
        } else {
            if (single_ && !peers_.empty())
                (void)::shutdown(event->fd, SHUT_RDWR);
            peers_.push_back(event->fd);
            if (!begun())
                name_ = name_of_peer(event->fd);
        }
    }
}

void PeerSocket::read_subscriptions()
{
    Message message;
    while (socket_.receive(message)) {
        const auto bytes = message.bytes();
        if (bytes.empty())
            continue;
        // Messages of samples have no topic. A subscriber to a topic receives only messages that
        // begin with it: messages with an index, or none.
        const std::string_view topic(reinterpret_cast<const char*>(bytes.data()) + 1,
                                     bytes.size() - 1);
        if (!topic.empty() && !(indexed_ && kIndexKey.starts_with(topic)))
            continue;
        if (bytes[0] == std::byte{1})
            ++subscriptions_;
        else if (bytes[0] == std::byte{0} && subscriptions_ != 0)
            --subscriptions_;
    }
}

// zmq_unbind() would also end the connections. Therefore libzmq keeps its listener, but dup3() puts
// another socket behind the descriptor. A new connection wakes all sockets that share the listener;
// accept() on the other socket then fails with EAGAIN. close() restores the original socket,
// because libzmq has to remove that socket from its epoll set.
void PeerSocket::stop_listening(int idle, int listener)
{
    listens_ = false;
    real_listener_ = listener;
    (void)::dup3(idle, own_listener_, O_CLOEXEC);
}

bool PeerSocket::send(std::span<const std::byte> first, Message& samples)
{
    if (!first.empty()) {
        Message part(first);
        if (!socket_.send(part, ZMQ_SNDMORE))
            return false;
    }
    Message message(samples, Message::Share{});
    return socket_.send(message); // a queue with room for the first part has room for both
}

} // namespace iio_stream::zmq
