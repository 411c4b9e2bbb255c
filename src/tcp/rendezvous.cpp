// SPDX-License-Identifier: MIT
#include "tcp/rendezvous.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::tcp {

namespace {

constexpr std::size_t kMostCandidates = 8;
constexpr std::int64_t kHandshakeNs = 5'000'000'000; ///< for a connection and its first message
constexpr std::int64_t kRetryNs = 100'000'000;       ///< between two attempts
constexpr std::int64_t kPeerTimeoutNs =
    60'000'000'000; ///< until the kernel drops a machine that has vanished

} // namespace

Rendezvous::Rendezvous(const Settings& settings, Handshake handshake)
    : settings_(settings), handshake_(std::move(handshake))
{
    group_.add(alarm_.fd(), POLLIN);
    if (!settings_.bind) {
        addresses_ = sys::resolve(settings_.address, sys::Use::connect);
        return;
    }
    listener_.emplace(settings_.address,
                      "another program uses the port: choose another one, or bind=off to connect");
    for (const int fd : listener_->fds())
        group_.add(fd, POLLIN);
}

void Rendezvous::start_waiting(std::int64_t wait_ns) noexcept
{
    expecting_ = true;
    tried_ = false;
    next_address_ = 0;
    retry_ns_ = 0;
    until_ns_ = sys::after(wait_ns);
    alarm_.set(0);
}

void Rendezvous::stop_waiting() noexcept
{
    expecting_ = false;
    until_ns_ = INT64_MAX;
    alarm_.clear();
}

void Rendezvous::accept_connections()
{
    for (const int fd : listener_->fds())
        for (;;) {
            sys::UniqueFd socket = sys::Listener::accept(fd);
            if (!socket.valid())
                break;
            if (candidates_.size() == kMostCandidates) {
                group_.remove(candidates_.front().fd.get());
                candidates_.pop_front();
            }
            Candidate candidate{std::move(socket)};
            candidate.name = sys::peer_of(candidate.fd.get());
            candidate.deadline_ns = sys::after(kHandshakeNs);
            send_hello(candidate);
            group_.add(candidate.fd.get(), POLLIN);
            candidates_.push_back(std::move(candidate));
        }
}

void Rendezvous::connect()
{
    if (!expecting_ || !candidates_.empty() || sys::monotonic_ns() < retry_ns_)
        return;
    const sys::SocketAddress& address = addresses_[next_address_];
    next_address_ = (next_address_ + 1) % addresses_.size();
    if (next_address_ == 0)
        retry_ns_ = sys::after(kRetryNs);
    Candidate candidate{sys::start_connecting(address)};
    candidate.name = address.text();
    if (!candidate.fd.valid())
        return reject(candidate.name, {Fault::device, errno, "connect to", settings_.name()});
    candidate.connecting = true;
    candidate.deadline_ns = sys::after(kHandshakeNs);
    group_.add(candidate.fd.get(), POLLOUT);
    candidates_.push_back(std::move(candidate));
}

// The message fits into an empty socket buffer. If it cannot be sent, the connection has already
// ended, which recv() reports.
void Rendezvous::send_hello(Candidate& candidate)
{
    sys::configure_connection(candidate.fd.get(), kPeerTimeoutNs);
    candidate.connected_ns = sys::monotonic_ns();
    if (!handshake_.hello)
        return;
    const auto bytes = handshake_.hello().encode();
    (void)::send(candidate.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Returns false when the candidate has become a peer. Throws an Error if it has to be rejected.
bool Rendezvous::advance(Candidate& candidate, std::optional<Peer>& peer)
{
    const int fd = candidate.fd.get();
    if (candidate.connecting) {
        if (!sys::wait_for(fd, POLLOUT, 0)) {
            if (sys::monotonic_ns() >= candidate.deadline_ns)
                throw Error(Fault::device, ETIMEDOUT, "connect to", settings_.name());
            return true;
        }
        if (const int error = sys::connect_error(fd); error != 0)
            throw Error(Fault::device, error, "connect to", settings_.name(), {},
                        error == ECONNREFUSED ? "is the other end running? wait= waits for it"
                                              : "");
        candidate.connecting = false;
        group_.remove(fd);
        group_.add(fd, POLLIN);
        send_hello(candidate);
    }
    for (;;) {
        const auto room = candidate.reader.room();
        const ssize_t got = ::recv(fd, room.data(), room.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            throw Error(Fault::device, got == 0 ? ECONNRESET : errno, "receive from",
                        settings_.name(), "the connection ended before the handshake was complete",
                        "the other end must be a tcp: endpoint of iio-stream");
        if (got < 0)
            break;
        if (auto message = candidate.reader.add(static_cast<std::size_t>(got))) {
            Peer ready{{},
                       candidate.name,
                       std::move(*message),
                       candidate.connected_ns,
                       sys::monotonic_ns()};
            ready.fd = std::move(candidate.fd);
            group_.remove(ready.fd.get());
            handshake_.check_peer(ready);
            peer = std::move(ready);
            return false;
        }
    }
    if (sys::monotonic_ns() >= candidate.deadline_ns)
        throw Error(Fault::device, ETIMEDOUT, "receive from", settings_.name(),
                    "it does not complete the handshake",
                    "the other end must be a tcp: endpoint of iio-stream");
    return true;
}

void Rendezvous::reject(const std::string& name, const Error& error)
{
    ++rejected_;
    tried_ = tried_ || next_address_ == 0;
    const std::string who = settings_.bind ? name + ": " : "";
    last_ = Error(error.fault(), error.code().value(), error.operation(), settings_.name(),
                  who + error.detail(), error.hint());
}

std::optional<Peer> Rendezvous::poll_peer()
{
    alarm_.clear();
    settings_.bind ? accept_connections() : connect();
    std::optional<Peer> peer;
    for (auto it = candidates_.begin(); it != candidates_.end() && !peer;) {
        bool stays = false;
        try {
            stays = advance(*it, peer);
        } catch (const Error& error) {
            if (it->fd.valid())
                group_.remove(it->fd.get());
            if (error.fault() == Fault::usage &&
                !settings_.bind) { // another attempt would fail, too
                candidates_.erase(it);
                throw;
            }
            reject(it->name, error);
        }
        it = stays ? std::next(it) : candidates_.erase(it);
    }
    if (expecting_ && !peer && candidates_.empty() && (settings_.bind || tried_) &&
        sys::monotonic_ns() >= until_ns_)
        fail_no_peer();
    set_alarm();
    return peer;
}

void Rendezvous::fail_no_peer() const
{
    if (!settings_.bind && last_)
        throw *last_;
    throw Error(Fault::device, ETIMEDOUT, "wait for a peer at", settings_.name(),
                last_ ? "no valid peer connected; rejected " + last_->detail() : "none connected",
                "wait= and reconnect= set a longer time");
}

void Rendezvous::set_alarm()
{
    std::int64_t next = expecting_ ? until_ns_ : INT64_MAX;
    for (const Candidate& candidate : candidates_)
        next = std::min(next, candidate.deadline_ns);
    if (expecting_ && !settings_.bind && candidates_.empty())
        next = next_address_ == 0 ? retry_ns_ : 0;
    if (next != INT64_MAX)
        alarm_.set(next);
}

Peer Rendezvous::wait_for_peer(int cancel)
{
    for (;;) {
        if (auto peer = poll_peer())
            return std::move(*peer);
        pollfd fds[] = {{fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)sys::wait_for(fds, INT64_MAX); // alarm_ ends the wait
        if (fds[1].revents != 0)
            throw Error(Fault::device, ECANCELED, "wait for a peer at", settings_.name());
    }
}

std::string Rendezvous::rejected_peers() const
{
    if (rejected_ == 0 || !last_ || !settings_.bind)
        return "";
    return std::to_string(rejected_) + " rejected, the last of them " + last_->detail();
}

} // namespace iio_stream::tcp
