// SPDX-License-Identifier: MIT
#include "sys/iio_buffer.hpp"

#include "sys/fail.hpp"
#include "uapi/iio_buffer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>

namespace iio_stream::sys {

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
    case ENOMEM: // no space to map it
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
