// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/remote/libiio.hpp"
#include "iio_stream/format.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace iio_stream::iio {

/// Number of our blocks that the remote side has room for; this is libiio's default.
inline constexpr unsigned kRemoteBlocks = 4;

/// A libiio buffer of a remote device.
/// Thread: refill() and push() block, and are called on one thread; cancel() on any other.
class RemoteBuffer {
public:
    RemoteBuffer(const Device& device, const Format& format, std::size_t bytes, bool output,
                 std::int64_t timeout_ns);
    RemoteBuffer(const RemoteBuffer&) = delete;
    ~RemoteBuffer();

    /// Waits for the next samples; returns their size in bytes, or -errno.
    std::ptrdiff_t refill() noexcept;
    /// Sends the first `bytes` of data(); returns 0 or an errno.
    int push(std::size_t bytes) noexcept;
    void cancel() noexcept;
    std::span<std::byte> data() const noexcept;

private:
    const Libiio& libiio_;
    iio_buffer* buffer_;
    std::size_t sample_bytes_;
};

} // namespace iio_stream::iio
