// SPDX-License-Identifier: MIT
#include "sys/network/tcp.hpp"

#include "iio_stream/error.hpp"

#include <linux/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

namespace iio_stream::sys {

namespace {

constexpr int kBacklog = 32;

bool is_port(const std::string& text)
{
    return !text.empty() && text.size() <= 5 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
           std::stoi(text) <= 65535;
}

UniqueFd listen_at(const SocketAddress& address, const std::string& name, const std::string& in_use)
{
    UniqueFd fd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid())
        return fd; // for example IPv6 on a machine without IPv6
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.bytes.ss_family == AF_INET6) // IPv4 uses its own socket
        ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) < 0 ||
        ::listen(fd.get(), kBacklog) < 0) {
        if (errno == EADDRNOTAVAIL)
            return UniqueFd();
        throw Error(Fault::device, errno, "listen at", name, {}, errno == EADDRINUSE ? in_use : "");
    }
    return fd;
}

std::string port_of(int fd)
{
    const std::string own = address_of(fd);
    return own.substr(own.rfind(':') + 1);
}

} // namespace

HostPort HostPort::parse(const std::string& option, const std::string& text,
                         const std::string& port)
{
    HostPort parsed{text, text, port};
    const std::size_t colon = text.rfind(':');
    const bool many_colons = text.find(':') != colon; // then it is an IPv6 address
    if (const std::size_t bracket = text.find(']'); text.starts_with('[') && bracket != text.npos) {
        parsed.host = text.substr(1, bracket - 1);
        if (bracket + 1 < text.size())
            parsed.port = text[bracket + 1] == ':' ? text.substr(bracket + 2) : "";
    } else if (colon != text.npos && !many_colons) {
        parsed.host = text.substr(0, colon);
        parsed.port = text.substr(colon + 1);
    }
    if (parsed.host.empty() && colon == 0)
        parsed.host = "localhost";
    if (parsed.host.empty() || !is_port(parsed.port))
        fail_usage(option + text + " is not a valid address",
                   "HOST" + std::string(port.empty() ? "" : ", HOST") +
                       ":PORT, [IPv6]:PORT, :PORT, or * for all addresses");
    return parsed;
}

std::string SocketAddress::text() const
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&bytes), size, host, sizeof host, port,
                      sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "unknown";
    const std::string name = host;
    return (bytes.ss_family == AF_INET6 ? "[" + name + "]:" : name + ":") + port;
}

std::vector<SocketAddress> resolve(const HostPort& where, Use use)
{
    addrinfo hints{}, *first = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (use == Use::listen ? AI_PASSIVE : 0);
    const char* host = where.host == "*" ? nullptr : where.host.c_str();
    const int code = ::getaddrinfo(host, where.port.c_str(), &hints, &first);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(first, [](addrinfo* list) {
        if (list != nullptr)
            ::freeaddrinfo(list);
    });
    if (code != 0)
        throw Error(Fault::device, code == EAI_SYSTEM ? errno : EADDRNOTAVAIL, "look up",
                    where.host, ::gai_strerror(code));
    std::vector<SocketAddress> addresses;
    for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
        SocketAddress address;
        address.size = one->ai_addrlen;
        std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
        addresses.push_back(address);
    }
    return addresses;
}

std::string address_of(int fd)
{
    SocketAddress address{{}, sizeof address.bytes};
    return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) < 0
               ? "unknown"
               : address.text();
}

std::string peer_of(int fd)
{
    SocketAddress address{{}, sizeof address.bytes};
    return ::getpeername(fd, reinterpret_cast<sockaddr*>(&address.bytes), &address.size) < 0
               ? "unknown"
               : address.text();
}

Listener::Listener(const HostPort& where, const std::string& in_use)
{
    for (SocketAddress& one : resolve(where, Use::listen)) {
        if (where.port == "0" && !sockets_.empty()) { // use the same port for all addresses
            const auto port =
                htons(static_cast<std::uint16_t>(std::stoi(port_of(sockets_[0].get()))));
            if (one.bytes.ss_family == AF_INET6)
                reinterpret_cast<sockaddr_in6&>(one.bytes).sin6_port = port;
            else
                reinterpret_cast<sockaddr_in&>(one.bytes).sin_port = port;
        }
        if (UniqueFd fd = listen_at(one, where.text, in_use); fd.valid())
            sockets_.push_back(std::move(fd));
    }
    if (sockets_.empty())
        throw Error(Fault::device, EADDRNOTAVAIL, "listen at", where.text);
}

std::vector<int> Listener::fds() const
{
    std::vector<int> fds;
    for (const UniqueFd& socket : sockets_)
        fds.push_back(socket.get());
    return fds;
}

std::vector<std::string> Listener::addresses() const
{
    std::vector<std::string> all;
    for (const int fd : fds())
        all.push_back(address_of(fd));
    return all;
}

UniqueFd Listener::accept(int fd) noexcept
{
    return UniqueFd(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

UniqueFd start_connecting(const SocketAddress& address) noexcept
{
    UniqueFd fd(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd.valid() &&
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.size) < 0 &&
        errno != EINPROGRESS) {
        const int error = errno;
        fd.reset();
        errno = error;
    }
    return fd;
}

int connect_error(int fd) noexcept
{
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 ? errno : error;
}

std::uint64_t acknowledged(int fd) noexcept
{
    tcp_info info{};
    socklen_t size = sizeof info;
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0 ? 0 : info.tcpi_bytes_acked;
}

void configure_connection(int fd, std::int64_t silence_ns) noexcept
{
    const int on = 1;
    const auto silence_ms = static_cast<unsigned>(silence_ns / 1'000'000);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
}

} // namespace iio_stream::sys
