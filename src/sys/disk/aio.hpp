// SPDX-License-Identifier: MIT
// The system calls of the kernel's asynchronous I/O, for files and FunctionFS endpoints. glibc has
// no functions for them (and the library libaio contains nothing else).
#pragma once

#include <linux/aio_abi.h>

#include <cstddef>
#include <span>

namespace iio_stream::sys {

/// Creates a context for this many requests in flight. Returns 0 or the errno.
int aio_setup(std::size_t requests, aio_context_t& context) noexcept;
/// Destroys the context after waiting for the requests in flight.
void aio_destroy(aio_context_t context) noexcept;
/// Submits one request, which must not be moved in memory until it has completed. Returns 0 or the
/// errno.
int aio_submit(aio_context_t context, iocb& request) noexcept;
/// Takes the completed requests without waiting. Returns their number; 0 also if the call fails.
std::size_t aio_take(aio_context_t context, std::span<io_event> events) noexcept;

} // namespace iio_stream::sys
