// SPDX-License-Identifier: MIT
#include "sys/device/functionfs.hpp"

#include "sys/device/call_deadline.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"
#include "sys/files.hpp"

#include "uapi/functionfs.hpp"
#include <linux/usb/functionfs.h>

#include <cerrno>
#include <endian.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace iio_stream::sys {

int ffs_attach(int endpoint_fd, int dmabuf_fd) noexcept
{
    return ::ioctl(endpoint_fd, uapi::kFfsDmabufAttach, &dmabuf_fd) < 0 ? errno : 0;
}

int ffs_transfer(int endpoint_fd, int dmabuf_fd, std::size_t bytes) noexcept
{
    uapi::usb_ffs_dmabuf_transfer_req request{.fd = dmabuf_fd, .flags = 0, .length = bytes};
    int result;
    do
        result = ::ioctl(endpoint_fd, uapi::kFfsDmabufTransfer, &request);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

namespace {

FfsEvent::Kind kind_of(std::uint8_t type)
{
    switch (type) {
    case FUNCTIONFS_BIND:
        return FfsEvent::Kind::bind;
    case FUNCTIONFS_UNBIND:
        return FfsEvent::Kind::unbind;
    case FUNCTIONFS_ENABLE:
        return FfsEvent::Kind::enable;
    case FUNCTIONFS_DISABLE:
        return FfsEvent::Kind::disable;
    case FUNCTIONFS_SETUP:
        return FfsEvent::Kind::setup;
    case FUNCTIONFS_SUSPEND:
        return FfsEvent::Kind::suspend;
    default:
        return FfsEvent::Kind::resume;
    }
}

} // namespace

std::optional<FfsEvent> ffs_event(int ep0_fd, const std::string& path)
{
    usb_functionfs_event event{};
    ssize_t got;
    do
        got = ::read(ep0_fd, &event, sizeof event);
    while (got < 0 && (errno == EINTR || errno == EIDRM)); // EIDRM: the host cancelled a request
    if (got < 0 && errno != EAGAIN)
        fail(errno, "read", path);
    if (got < static_cast<ssize_t>(sizeof event))
        return std::nullopt;
    const usb_ctrlrequest& setup = event.u.setup;
    return FfsEvent{kind_of(event.type),
                    {setup.bRequestType, setup.bRequest, le16toh(setup.wValue),
                     le16toh(setup.wIndex), le16toh(setup.wLength)}};
}

namespace {

/// The time limit for a host to finish a request. A host controller normally finishes it without
/// delay.
constexpr std::int64_t kStageNs = 1'000'000'000;

// With O_NONBLOCK, ep0 returns EAGAIN while another thread opens or closes an endpoint.
template <typename Call>
ssize_t when_free(Call call) noexcept
{
    const std::int64_t deadline = after(kStageNs);
    for (;;) {
        const ssize_t result = call();
        if (result >= 0 || errno != EAGAIN || monotonic_ns() >= deadline)
            return result;
        (void)::usleep(100);
    }
}

// FunctionFS waits for data and status stages without a time limit, even with O_NONBLOCK, and holds
// the lock that is needed to read events. A host that has cancelled its request, or a hostile host,
// never completes these stages. After a signal, FunctionFS dequeues its transfer but still treats
// each read as part of that stage, not as a read of events, until the request is stalled.
template <typename Call>
ssize_t within_stage(int ep0_fd, bool to_host, Call call) noexcept
{
    const CallDeadline deadline(kStageNs);
    const ssize_t moved = when_free(call);
    if (moved < 0 && errno == EINTR)
        ffs_stall(ep0_fd, to_host);
    return moved;
}

} // namespace

// FunctionFS stalls a request on a read or write in the wrong direction.
void ffs_stall(int ep0_fd, bool to_host) noexcept
{
    (void)when_free(
        [&] { return to_host ? ::read(ep0_fd, nullptr, 0) : ::write(ep0_fd, nullptr, 0); });
}

void ffs_reply(int ep0_fd, std::span<const std::byte> data) noexcept
{
    (void)within_stage(ep0_fd, true, [&] { return ::write(ep0_fd, data.data(), data.size()); });
}

void ffs_accept(int ep0_fd) noexcept
{
    (void)within_stage(ep0_fd, false, [&] { return ::read(ep0_fd, nullptr, 0); });
}

bool ffs_receive(int ep0_fd, std::span<std::byte> data) noexcept
{
    return within_stage(ep0_fd, false, [&] { return ::read(ep0_fd, data.data(), data.size()); }) ==
           static_cast<ssize_t>(data.size());
}

// open() takes the lock of ep0. With O_NONBLOCK it would not wait for a thread that handles a
// request.
UniqueFd ffs_open_endpoint(const std::string& path)
{
    UniqueFd fd = open_file(path, O_RDWR);
    if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) < 0)
        fail(errno, "fcntl", path);
    return fd;
}

// An endpoint also halts on I/O in the wrong direction.
void ffs_halt_out(int endpoint_fd) noexcept
{
    [[maybe_unused]] auto result = ::write(endpoint_fd, nullptr, 0);
}

void ffs_describe(int ep0_fd, const std::string& path, std::span<const std::byte> data)
{
    if (::write(ep0_fd, data.data(), data.size()) < 0)
        fail(errno, "write descriptors to", path);
}

} // namespace iio_stream::sys
