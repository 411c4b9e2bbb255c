// SPDX-License-Identifier: MIT
#include "sys/disk/aio.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace iio_stream::sys {

int aio_setup(std::size_t requests, aio_context_t& context) noexcept
{
    context = 0; // the kernel requires this initial value
    return ::syscall(__NR_io_setup, static_cast<unsigned>(requests), &context) == 0 ? 0 : errno;
}

void aio_destroy(aio_context_t context) noexcept
{
    ::syscall(__NR_io_destroy, context);
}

int aio_submit(aio_context_t context, iocb& request) noexcept
{
    iocb* list[] = {&request};
    return ::syscall(__NR_io_submit, context, 1L, list) < 0 ? errno : 0;
}

std::size_t aio_take(aio_context_t context, std::span<io_event> events) noexcept
{
    // A timeout of zero in any width: 32-bit processors have several variants of this call.
    const std::array<std::uint64_t, 2> at_once{};
    long count = 0;
    do
        count = ::syscall(__NR_io_getevents, context, 0L, static_cast<long>(events.size()),
                          events.data(), at_once.data());
    while (count < 0 && errno == EINTR); // the completion would not be signalled again
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

} // namespace iio_stream::sys
