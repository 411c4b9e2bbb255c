// SPDX-License-Identifier: MIT
#include "tcp/door.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::tcp {

namespace {

constexpr std::size_t kMostCandidates = 8;
constexpr std::int64_t kIntroductionNs = 5'000'000'000; ///< for a connection and its first message
constexpr std::int64_t kAgainNs = 100'000'000;          ///< between two attempts
constexpr std::int64_t kSilentNs =
    60'000'000'000; ///< for which the kernel waits for a vanished machine

} // namespace

Door::Door(const Settings& settings, Manners manners)
    : settings_(settings), manners_(std::move(manners))
{
    group_.add(alarm_.fd(), POLLIN);
    if (!settings_.bind) {
        addresses_ = sys::look_up(settings_.place, sys::Use::connect);
        return;
    }
    listener_.emplace(settings_.place,
                      "another program has the port; tcp: of another port, or bind=off to connect");
    for (const int fd : listener_->fds())
        group_.add(fd, POLLIN);
}

void Door::expect(std::int64_t wait_ns) noexcept
{
    expecting_ = true;
    tried_ = false;
    next_address_ = 0;
    retry_ns_ = 0;
    until_ns_ = sys::after(wait_ns);
    alarm_.set(0);
}

void Door::settle() noexcept
{
    expecting_ = false;
    until_ns_ = INT64_MAX;
    alarm_.clear();
}

void Door::admit()
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
            candidate.deadline_ns = sys::after(kIntroductionNs);
            greet(candidate);
            group_.add(candidate.fd.get(), POLLIN);
            candidates_.push_back(std::move(candidate));
        }
}

void Door::connect()
{
    if (!expecting_ || !candidates_.empty() || sys::monotonic_ns() < retry_ns_)
        return;
    const sys::SocketAddress& address = addresses_[next_address_];
    next_address_ = (next_address_ + 1) % addresses_.size();
    if (next_address_ == 0)
        retry_ns_ = sys::after(kAgainNs);
    Candidate candidate{sys::start_connecting(address)};
    candidate.name = address.text();
    if (!candidate.fd.valid())
        return turn_away(candidate.name, {Fault::device, errno, "connect to", settings_.name()});
    candidate.connecting = true;
    candidate.deadline_ns = sys::after(kIntroductionNs);
    group_.add(candidate.fd.get(), POLLOUT);
    candidates_.push_back(std::move(candidate));
}

// It fits into an empty socket buffer: what does not go means that the peer has gone, which is seen
// soon.
void Door::greet(Candidate& candidate)
{
    sys::tend_connection(candidate.fd.get(), kSilentNs);
    candidate.met_ns = sys::monotonic_ns();
    if (!manners_.greeting)
        return;
    const auto bytes = manners_.greeting().encode();
    (void)::send(candidate.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// False if it is done with. Throws why it is of no use.
bool Door::advance(Candidate& candidate, std::optional<Guest>& guest)
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
        greet(candidate);
    }
    for (;;) {
        const auto room = candidate.reader.room();
        const ssize_t got = ::recv(fd, room.data(), room.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            throw Error(Fault::device, got == 0 ? ECONNRESET : errno, "hear from", settings_.name(),
                        "it hung up before it said who it is",
                        "the other end must be tcp: of an iio-stream");
        if (got < 0)
            break;
        if (auto message = candidate.reader.add(static_cast<std::size_t>(got))) {
            Guest come{
                {}, candidate.name, std::move(*message), candidate.met_ns, sys::monotonic_ns()};
            come.fd = std::move(candidate.fd);
            group_.remove(come.fd.get());
            manners_.judge(come);
            guest = std::move(come);
            return false;
        }
    }
    if (sys::monotonic_ns() >= candidate.deadline_ns)
        throw Error(Fault::device, ETIMEDOUT, "hear from", settings_.name(),
                    "it does not say who it is", "the other end must be tcp: of an iio-stream");
    return true;
}

void Door::turn_away(const std::string& name, const Error& error)
{
    ++turned_away_;
    tried_ = tried_ || next_address_ == 0;
    const std::string who = settings_.bind ? name + ": " : "";
    last_ = Error(error.fault(), error.code().value(), error.operation(), settings_.name(),
                  who + error.detail(), error.hint());
}

std::optional<Guest> Door::look()
{
    alarm_.clear();
    settings_.bind ? admit() : connect();
    std::optional<Guest> guest;
    for (auto it = candidates_.begin(); it != candidates_.end() && !guest;) {
        bool stays = false;
        try {
            stays = advance(*it, guest);
        } catch (const Error& error) {
            if (it->fd.valid())
                group_.remove(it->fd.get());
            if (error.fault() == Fault::usage &&
                !settings_.bind) { // it will be no better the next time
                candidates_.erase(it);
                throw;
            }
            turn_away(it->name, error);
        }
        it = stays ? std::next(it) : candidates_.erase(it);
    }
    if (expecting_ && !guest && candidates_.empty() && (settings_.bind || tried_) &&
        sys::monotonic_ns() >= until_ns_)
        fail_absent();
    set_alarm();
    return guest;
}

void Door::fail_absent() const
{
    if (!settings_.bind && last_)
        throw *last_;
    throw Error(Fault::device, ETIMEDOUT, "wait for a peer at", settings_.name(),
                last_ ? "no iio-stream came, but " + last_->detail() : "none came",
                "wait= and reconnect= give it more time");
}

void Door::set_alarm()
{
    std::int64_t next = expecting_ ? until_ns_ : INT64_MAX;
    for (const Candidate& candidate : candidates_)
        next = std::min(next, candidate.deadline_ns);
    if (expecting_ && !settings_.bind && candidates_.empty())
        next = next_address_ == 0 ? retry_ns_ : 0;
    if (next != INT64_MAX)
        alarm_.set(next);
}

Guest Door::await(int cancel)
{
    for (;;) {
        if (auto guest = look())
            return std::move(*guest);
        pollfd fds[] = {{fd(), POLLIN, 0}, {cancel, POLLIN, 0}};
        (void)sys::wait_for(fds, INT64_MAX); // its alarm ends it
        if (fds[1].revents != 0)
            throw Error(Fault::device, ECANCELED, "wait for a peer at", settings_.name());
    }
}

std::string Door::strangers() const
{
    if (turned_away_ == 0 || !last_ || !settings_.bind)
        return "";
    return std::to_string(turned_away_) + " turned away, the last of them " + last_->detail();
}

} // namespace iio_stream::tcp
