// SPDX-License-Identifier: MIT
#include "sys/device/iio_buffer.hpp"

#include "sys/fail.hpp"
#include "sys/files.hpp"

#include "uapi/iio_buffer.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

std::string link_target(const std::string& path)
{
    std::array<char, 256> target;
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

} // namespace

UniqueFd iio_buffer_fd(int device_fd, const std::string& device, int index)
{
    int answer = index;
    if (::ioctl(device_fd, uapi::kIioBufferGetFd, &answer) < 0)
        fail(errno, "IIO_BUFFER_GET_FD", device + " buffer " + std::to_string(index));
    UniqueFd fd{answer};
    if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) < 0 || ::fcntl(fd.get(), F_SETFL, O_NONBLOCK) < 0)
        fail(errno, "fcntl", device + " buffer " + std::to_string(index));
    return fd;
}

std::vector<std::string> iio_buffer_holders()
{
    std::vector<std::string> holders;
    for (const std::string& pid : list_directory("/proc")) {
        if (pid.find_first_not_of("0123456789") != std::string::npos ||
            pid == std::to_string(::getpid()))
            continue;
        const std::string process = "/proc/" + pid;
        std::size_t buffers = 0, devices = 0;
        for (const std::string& fd : list_directory(process + "/fd")) {
            const std::string target = link_target(process + "/fd/" + fd);
            buffers += target == "anon_inode:iio:buffer" ? 1 : 0;
            devices += target.starts_with("/dev/iio:device") ? 1 : 0;
        }
        if (buffers > devices)
            holders.push_back(pid + " " + read_text(process + "/comm").value_or("?"));
    }
    return holders;
}

Attach iio_attach(int buffer_fd, int dmabuf_fd, int& error)
{
    if (::ioctl(buffer_fd, uapi::kIioDmabufAttach, &dmabuf_fd) == 0)
        return Attach::done;
    error = errno;
    switch (error) {
    case EPERM:
    case ENODEV:
    case ENOTTY:
    case EINVAL:
    case ENOSYS:
    case EIO:    // the DMA cannot map this memory
    case ENOMEM: // there is no address space to map it
        return Attach::refused;
    case EBUSY:
        return Attach::busy;
    default:
        fail(error, "IIO_BUFFER_DMABUF_ATTACH", "dmabuf fd " + std::to_string(dmabuf_fd));
    }
}

void iio_detach(int buffer_fd, int dmabuf_fd) noexcept
{
    (void)::ioctl(buffer_fd, uapi::kIioDmabufDetach, &dmabuf_fd);
}

int iio_enqueue(int buffer_fd, int dmabuf_fd, std::size_t bytes, bool cyclic) noexcept
{
    uapi::iio_dmabuf request{.fd = static_cast<__u32>(dmabuf_fd),
                             .flags = cyclic ? uapi::kIioDmabufCyclic : 0,
                             .bytes_used = bytes};
    int result;
    do
        result = ::ioctl(buffer_fd, uapi::kIioDmabufEnqueue, &request);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

int iio_dmabuf_unsupported(int buffer_fd) noexcept
{
    int nothing = -1;
    if (::ioctl(buffer_fd, uapi::kIioDmabufAttach, &nothing) == 0 || errno == EBADF)
        return 0;
    return errno;
}

} // namespace iio_stream::sys
