// SPDX-License-Identifier: MIT
#include "sys/disk/io_refusal.hpp"

#include "sys/disk/aio.hpp"
#include "sys/files.hpp"

#include <linux/io_uring.h>

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace iio_stream::sys {

namespace {

std::string knob(const char* path)
{
    std::string text = read_text(path).value_or("");
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

// A seccomp filter can return any errno: EPERM, or ENOSYS as in containers.
bool filtered()
{
    return read_text("/proc/self/status").value_or("").find("\nSeccomp:\t2\n") != std::string::npos;
}

IoRefusal refusal_of(const char* call, int error)
{
    IoRefusal refusal{error, std::string(call) + ": " + std::strerror(error), ""};
    if ((error == EPERM || error == ENOSYS) && filtered()) {
        refusal.why += " (a seccomp filter on this process)";
        refusal.fix = "allow it in the container's seccomp profile";
    } else if (error == ENOSYS) {
        refusal.why += " (the kernel is built without it)";
    }
    return refusal;
}

} // namespace

IoRefusal io_uring_refusal()
{
    io_uring_params parameters{};
    const long fd = ::syscall(__NR_io_uring_setup, 1, &parameters);
    if (fd >= 0) {
        ::close(static_cast<int>(fd));
        return {};
    }
    const int error = errno;
    const std::string disabled = knob("/proc/sys/kernel/io_uring_disabled");
    if (error != EPERM || disabled.empty() || disabled == "0")
        return refusal_of("io_uring_setup", error);
    return {error,
            std::string("io_uring_setup: ") + std::strerror(error) +
                " (kernel.io_uring_disabled=" + disabled + ")",
            "sudo sysctl -w kernel.io_uring_disabled=0"};
}

IoRefusal aio_refusal(std::size_t requests)
{
    aio_context_t context = 0;
    const int error = aio_setup(requests, context);
    if (error == 0) {
        aio_destroy(context);
        return {};
    }
    if (error != EAGAIN)
        return refusal_of("io_setup", error);
    return {error,
            std::string("io_setup: ") + std::strerror(error) + " (" + knob("/proc/sys/fs/aio-nr") +
                " requests of all processes are in use, and fs.aio-max-nr=" +
                knob("/proc/sys/fs/aio-max-nr") + ")",
            "sudo sysctl -w fs.aio-max-nr=1048576"};
}

} // namespace iio_stream::sys
