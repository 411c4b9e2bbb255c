// SPDX-License-Identifier: MIT
// The kernel's asynchronous I/O for files and FunctionFS's endpoints: its system calls, which glibc
// has no functions for (the library libaio has no more than those).
#pragma once

#include <linux/aio_abi.h>

#include <cstddef>
#include <span>

namespace iio_stream::sys {

/// A context for this many requests in flight: 0 or the errno.
int aio_setup(std::size_t requests, aio_context_t& context) noexcept;
/// Waits for the requests in flight.
void aio_destroy(aio_context_t context) noexcept;
/// Queues one request, which must not move until it has completed: 0 or the errno.
int aio_submit(aio_context_t context, iocb& request) noexcept;
/// Takes what has completed, without waiting: how many, 0 also if the kernel refuses.
std::size_t aio_take(aio_context_t context, std::span<io_event> events) noexcept;

} // namespace iio_stream::sys
