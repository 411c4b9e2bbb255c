// SPDX-License-Identifier: MIT
#include "serve/listener.hpp"

#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace iio_stream::serve {

namespace {

constexpr const char* kPort = "30431"; // iiod's
constexpr int kBacklog = 32;

struct Place {
    std::string host, port = kPort;
};

Place place_of(const std::string& text)
{
    Place place{text};
    const std::size_t colon = text.rfind(':');
    const bool many_colons = text.find(':') != colon; // an IPv6 address
    if (const std::size_t bracket = text.find(']'); text.starts_with('[') && bracket != text.npos) {
        place.host = text.substr(1, bracket - 1);
        if (bracket + 1 < text.size())
            place.port = text[bracket + 1] == ':' ? text.substr(bracket + 2) : "";
    } else if (colon != text.npos && !many_colons) {
        place = {text.substr(0, colon), text.substr(colon + 1)};
    }
    if (place.host.empty() && colon == 0)
        place.host = "localhost";
    const bool number = !place.port.empty() && place.port.size() <= 5 &&
                        std::all_of(place.port.begin(), place.port.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
                        std::stoi(place.port) <= 65535;
    if (place.host.empty() || !number)
        fail_usage("--listen " + text + " is no address", "HOST, HOST:PORT, [IPv6]:PORT, :PORT, or * for all addresses");
    return place;
}

sys::UniqueFd listen_at(const addrinfo& address, const std::string& name)
{
    sys::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid())
        return fd; // such as IPv6 on a machine without it
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.ai_family == AF_INET6) // IPv4 has a socket of its own
        ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) < 0 || ::listen(fd.get(), kBacklog) < 0) {
        if (errno == EADDRNOTAVAIL)
            return sys::UniqueFd();
        throw Error(Fault::device, errno, "listen at", name, {},
                    errno == EADDRINUSE ? "does iiod run? --listen :PORT takes another port" : "");
    }
    return fd;
}

std::string text_of(const sockaddr_storage& address, socklen_t size)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "unknown";
    const std::string name = host;
    return (address.ss_family == AF_INET6 ? "[" + name + "]:" : name + ":") + port;
}

std::string port_of(int fd)
{
    const std::string own = address_of(fd);
    return own.substr(own.rfind(':') + 1);
}

} // namespace

std::string address_of(int fd)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) < 0 ? "unknown" : text_of(address, size);
}

std::string peer_of(int fd)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    return ::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) < 0 ? "unknown" : text_of(address, size);
}

Listener::Listener(const std::string& text)
{
    const Place place = place_of(text);
    addrinfo hints{}, *first = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    const char* host = place.host == "*" ? nullptr : place.host.c_str();
    const int code = ::getaddrinfo(host, place.port.c_str(), &hints, &first);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(first, [](addrinfo* list) {
        if (list != nullptr)
            ::freeaddrinfo(list);
    });
    if (code != 0)
        throw Error(Fault::device, code == EAI_SYSTEM ? errno : EADDRNOTAVAIL, "look up", place.host,
                    ::gai_strerror(code));
    for (addrinfo* one = first; one != nullptr; one = one->ai_next) {
        if (place.port == "0" && !sockets_.empty()) { // the same port for all
            const auto port = htons(static_cast<std::uint16_t>(std::stoi(port_of(sockets_[0].get()))));
            if (one->ai_family == AF_INET6)
                reinterpret_cast<sockaddr_in6*>(one->ai_addr)->sin6_port = port;
            else
                reinterpret_cast<sockaddr_in*>(one->ai_addr)->sin_port = port;
        }
        if (sys::UniqueFd fd = listen_at(*one, text); fd.valid())
            sockets_.push_back(std::move(fd));
    }
    if (sockets_.empty())
        throw Error(Fault::device, EADDRNOTAVAIL, "listen at", text);
}

std::vector<int> Listener::fds() const
{
    std::vector<int> fds;
    for (const sys::UniqueFd& socket : sockets_)
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

sys::UniqueFd Listener::accept(int fd) noexcept
{
    return sys::UniqueFd(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

} // namespace iio_stream::serve
