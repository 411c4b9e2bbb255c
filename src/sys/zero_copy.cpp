// SPDX-License-Identifier: MIT
#include "sys/zero_copy.hpp"

#include "sys/event.hpp"
#include "sys/tcp.hpp"

#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>

namespace iio_stream::sys {

namespace {

constexpr const char* kUnwanted = "a copy was asked for";
constexpr const char* kLocal = "what stays on this machine is copied";
constexpr const char* kNoInterface = "the connection's network interface is not known";
constexpr const char* kNoScatterGather = "the network interface has no scatter-gather";
constexpr const char* kNoKernel = "the kernel has no MSG_ZEROCOPY";
constexpr const char* kNoPages = "the kernel cannot send these pages in place";
constexpr const char* kCopied = "the kernel copied in spite of MSG_ZEROCOPY";

std::span<const std::byte> ip_of(const sockaddr* address)
{
    if (address == nullptr)
        return {};
    if (address->sa_family == AF_INET)
        return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 1));
    if (address->sa_family != AF_INET6)
        return {};
    const auto whole = std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 1));
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    return mapped ? whole.last(sizeof(in_addr)) : whole;
}

bool same_ip(const sockaddr* a, const sockaddr* b)
{
    const auto one = ip_of(a), other = ip_of(b);
    return !one.empty() && one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size()) == 0;
}

bool has_scatter_gather(int fd, const char* interface)
{
    ethtool_value value{.cmd = ETHTOOL_GSG, .data = 0};
    ifreq request{};
    std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    return ::ioctl(fd, SIOCETHTOOL, &request) == 0 && value.data != 0;
}

/// Why the interface that has the socket's address cannot do it; nullptr: it can.
const char* refusal_of(int fd)
{
    SocketAddress own{{}, sizeof own.bytes}, peer{{}, sizeof peer.bytes};
    const auto generic = [](SocketAddress& address) { return reinterpret_cast<sockaddr*>(&address.bytes); };
    ifaddrs* first = nullptr;
    if (::getsockname(fd, generic(own), &own.size) < 0 || ::getpeername(fd, generic(peer), &peer.size) < 0 ||
        ::getifaddrs(&first) < 0)
        return kNoInterface;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, &::freeifaddrs);
    std::string interface;
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        if (same_ip(one->ifa_addr, generic(peer)))
            return kLocal;
        if (same_ip(one->ifa_addr, generic(own)))
            interface = one->ifa_name;
    }
    if (interface.empty())
        return kNoInterface;
    return has_scatter_gather(fd, interface.c_str()) ? nullptr : kNoScatterGather;
}

} // namespace

ZeroCopy::ZeroCopy(int fd, bool wanted) : fd_(fd)
{
    const int on = 1;
    why_not_ = wanted ? refusal_of(fd) : kUnwanted;
    if (is_on() && ::setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0)
        why_not_ = kNoKernel;
}

ssize_t ZeroCopy::send(std::span<const std::byte> bytes, const Lease& lease)
{
    constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
    if (!is_on() || bytes.size() < kFewestBytes)
        return ::send(fd_, bytes.data(), bytes.size(), kFlags);
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), kFlags | MSG_ZEROCOPY);
    if (sent < 0 && errno == EFAULT) // a dma-heap's or a udmabuf's own mapping
        why_not_ = kNoPages;
    if (sent < 0 && (errno == EFAULT || errno == ENOBUFS || errno == ENOMEM)) // too much of it is on the way
        return ::send(fd_, bytes.data(), bytes.size(), kFlags);
    if (sent > 0) {
        if (!held_.empty() && held_.back().lease == lease)
            held_.back().last = next_;
        else
            held_.push_back({lease, next_});
        ++next_;
    }
    return sent;
}

void ZeroCopy::finish(std::uint32_t first, std::uint32_t last)
{
    for (std::uint32_t one = first; one != last + 1; ++one)
        early_.insert(one);
    for (auto next = early_.find(finished_); next != early_.end(); next = early_.find(finished_)) {
        early_.erase(next);
        ++finished_;
    }
    while (!held_.empty() && static_cast<std::int32_t>(finished_ - held_.front().last) > 0)
        held_.pop_front();
}

bool ZeroCopy::hear()
{
    bool news = false;
    for (;;) {
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(sock_extended_err) + sizeof(sockaddr_storage))];
        msghdr message{};
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        if (::recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            return news;
        for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
            if (!(part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) &&
                !(part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR))
                continue;
            sock_extended_err said{};
            std::memcpy(&said, CMSG_DATA(part), sizeof said);
            if (said.ee_origin != SO_EE_ORIGIN_ZEROCOPY || said.ee_errno != 0)
                continue;
            news = true;
            finish(said.ee_info, said.ee_data);
            if ((said.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0)
                why_not_ = kCopied;
        }
    }
}

std::size_t ZeroCopy::held_beside(const Lease& lease) const noexcept
{
    return held_.size() - (!held_.empty() && held_.back().lease == lease ? 1 : 0);
}

void ZeroCopy::abandon()
{
    constexpr std::int64_t kMostNs = 1'000'000'000; // the card has sent what it had by then
    (void)hear();
    if (held_.empty())
        return;
    const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
    (void)::connect(fd_, &nowhere, sizeof nowhere); // drops what is queued, also where the descriptor was duplicated
    const std::int64_t deadline = after(kMostNs);
    while (!held_.empty() && wait_for(fd_, 0, deadline))
        if (!hear())
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // it is closed, which poll() says again and again
    held_.clear();
}

} // namespace iio_stream::sys
