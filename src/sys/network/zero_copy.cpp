// SPDX-License-Identifier: MIT
#include "sys/network/zero_copy.hpp"

#include "iio_stream/error.hpp"
#include "sys/event.hpp"
#include "sys/network/tcp.hpp"
#include "sys/uring.hpp"

#include "uapi/io_uring.hpp"
#include <linux/ethtool.h>
#include <linux/sockios.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

namespace iio_stream::sys {

namespace {

constexpr const char* kUnwanted = "a copy was requested";
constexpr const char* kLocal = "the client is on this machine";
constexpr const char* kNoInterface = "the connection's network interface is unknown";
constexpr const char* kNoScatterGather = "the network interface does not support scatter-gather";
constexpr const char* kNoUring = "io_uring cannot be used (see `iio-stream doctor`)";
constexpr const char* kNoKernel =
    "the kernel's io_uring does not report what it sends in place (Linux 6.2 does)";
constexpr const char* kNoPages = "the kernel cannot send these pages in place";
constexpr const char* kNoMemory = "the limit on locked memory is too low (ulimit -l)";
constexpr const char* kCopied = "the kernel copied the data despite SEND_ZC";

constexpr unsigned kRequests = 16;
constexpr std::size_t kMostBytes = 1 << 30; // maximum for one request
constexpr unsigned kMostRegistered = 256;   // buffers; further ones are sent in place without
                                            // registration

std::span<const std::byte> ip_of(const sockaddr* address)
{
    if (address == nullptr)
        return {};
    if (address->sa_family == AF_INET)
        return std::as_bytes(
            std::span(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 1));
    if (address->sa_family != AF_INET6)
        return {};
    const auto whole =
        std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 1));
    const bool mapped =
        IN6_IS_ADDR_V4MAPPED(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    return mapped ? whole.last(sizeof(in_addr)) : whole;
}

bool same_ip(const sockaddr* a, const sockaddr* b)
{
    const auto one = ip_of(a), other = ip_of(b);
    return !one.empty() && one.size() == other.size() &&
           std::memcmp(one.data(), other.data(), one.size()) == 0;
}

bool has_scatter_gather(int fd, const char* interface)
{
    ethtool_value value{.cmd = ETHTOOL_GSG, .data = 0};
    ifreq request{};
    std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    return ::ioctl(fd, SIOCETHTOOL, &request) == 0 && value.data != 0;
}

/// Returns why the interface with the socket's address cannot send without a copy; nullptr if it
/// can.
const char* refusal_of(int fd)
{
    SocketAddress own{{}, sizeof own.bytes}, peer{{}, sizeof peer.bytes};
    const auto generic = [](SocketAddress& address) {
        return reinterpret_cast<sockaddr*>(&address.bytes);
    };
    ifaddrs* first = nullptr;
    if (::getsockname(fd, generic(own), &own.size) < 0 ||
        ::getpeername(fd, generic(peer), &peer.size) < 0 || ::getifaddrs(&first) < 0)
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
    why_not_ = wanted ? refusal_of(fd) : kUnwanted;
    if (!is_on())
        return;
    try {
        uring_ = std::make_unique<Uring>("the connection", kRequests);
        registers_ = ::io_uring_register_buffers_sparse(&uring_->ring, kMostRegistered) == 0;
    } catch (const Error&) {
        why_not_ = kNoUring;
    }
}

ZeroCopy::~ZeroCopy() = default;

int ZeroCopy::fd() const noexcept
{
    return uring_ ? uring_->ring.ring_fd : -1;
}

void ZeroCopy::start(std::span<const std::byte> bytes, const Buffer& buffer, const Lease& lease)
{
    bytes = bytes.first(std::min(bytes.size(), kMostBytes));
    io_uring_sqe* request = ::io_uring_get_sqe(&uring_->ring); // never nullptr, because every
                                                               // request is submitted at once
    // MSG_WAITALL sends all bytes in one piece. If two pieces shared a packet, the kernel would
    // report the later one as copied.
    ::io_uring_prep_send_zc(request, fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_WAITALL,
                            uapi::kUringReportUsage);
    if (is_registered(bytes, buffer)) {
        request->ioprio |= IORING_RECVSEND_FIXED_BUF;
        request->buf_index = static_cast<std::uint16_t>(buffer.index);
    }
    ::io_uring_sqe_set_data64(request, first_ + sends_.size());
    sends_.push_back({lease});
    result_.reset();
    if (const int error = ::io_uring_submit(&uring_->ring); error < 0)
        result_ = error;
    read_completions();
}

bool ZeroCopy::is_registered(std::span<const std::byte> bytes, const Buffer& buffer)
{
    if (!registers_ || buffer.index >= kMostRegistered)
        return false;
    if (buffer.index >= registered_.size())
        registered_.resize(buffer.index + 1);
    const std::span<const std::byte> before = registered_[buffer.index];
    if (bytes.data() >= before.data() &&
        bytes.data() + bytes.size() <= before.data() + before.size())
        return true;
    return reregister(buffer);
}

bool ZeroCopy::reregister(const Buffer& buffer)
{
    const iovec piece{const_cast<std::byte*>(buffer.bytes.data()), buffer.bytes.size()};
    const __u64 tag = 0;
    const auto slot = static_cast<unsigned>(buffer.index);
    const bool done =
        ::io_uring_register_buffers_update_tag(&uring_->ring, slot, &piece, &tag, 1) == 1;
    registered_[buffer.index] = done ? buffer.bytes : std::span<const std::byte>();
    return done;
}

void ZeroCopy::forget()
{
    for (std::size_t index = 0; index < registered_.size(); ++index)
        if (!registered_[index].empty())
            (void)reregister({index, {}});
    registered_.clear();
}

void ZeroCopy::read_completions()
{
    io_uring_cqe* completion = nullptr;
    while (uring_ && ::io_uring_peek_cqe(&uring_->ring, &completion) == 0) {
        Send& send = sends_.at(static_cast<std::size_t>(completion->user_data - first_));
        if ((completion->flags & IORING_CQE_F_NOTIF) == 0)
            handle(send, completion->res);
        else if (send.sent &&
                 (static_cast<std::uint32_t>(completion->res) & uapi::kUringUsageCopied) != 0)
            why_not_ = kCopied;
        if ((completion->flags & IORING_CQE_F_MORE) == 0) // the last completion of this send
            send.lease.reset();
        ::io_uring_cqe_seen(&uring_->ring, completion);
    }
    for (; !sends_.empty() && sends_.front().lease == nullptr; ++first_)
        sends_.pop_front();
}

void ZeroCopy::handle(Send& send, std::int32_t result)
{
    send.sent = result > 0;
    result_ = result;
    if (result == -EFAULT) { // the pages of a dma-heap or udmabuf mapping cannot be pinned
        why_not_ = kNoPages;
    } else if (result == -EINVAL) {
        why_not_ = kNoKernel;
    } else if (result == -ENOMEM || result == -ENOBUFS) {
        const auto finished = std::ranges::count(sends_, nullptr, &Send::lease);
        if (!registered_.empty()) {
            registers_ = false;
            forget();
        } else if (finished + 1 == std::ssize(sends_)) { // no other send is in flight
            why_not_ = kNoMemory;
        }
    }
}

std::size_t ZeroCopy::held() const noexcept
{
    std::size_t count = 0;
    const void* last = nullptr; // the sends of one lease are consecutive
    for (const Send& send : sends_)
        if (send.lease != nullptr && std::exchange(last, send.lease.get()) != send.lease.get())
            ++count;
    return count;
}

void ZeroCopy::abandon()
{
    constexpr std::int64_t kMostNs = 1'000'000'000; // by then the card has sent its queued pages
    read_completions();
    if (sends_.empty())
        return;
    const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
    (void)::connect(fd_, &nowhere,
                    sizeof nowhere); // drops the queued data, even if the descriptor was duplicated
    const std::int64_t deadline = after(kMostNs);
    while (!sends_.empty() && wait_for(fd(), POLLIN, deadline))
        read_completions();
}

} // namespace iio_stream::sys
