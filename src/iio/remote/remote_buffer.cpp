// SPDX-License-Identifier: MIT
#include "iio/remote/remote_buffer.hpp"

#include "iio/remote/libiio_context.hpp"
#include "iio_stream/error.hpp"
#include "sys/captured_stderr.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::iio {

RemoteBuffer::RemoteBuffer(const Device& device, const Format& format, std::size_t bytes,
                           bool output, std::int64_t timeout_ns)
    : libiio_(Libiio::get()), buffer_(nullptr), sample_bytes_(format.sample_bytes)
{
    const auto& context = dynamic_cast<const LibiioContext&>(*device.context());
    iio_device* raw = context.raw(device.node());
    for (unsigned i = 0; i < libiio_.device_get_channels_count(raw); ++i) {
        iio_channel* channel = libiio_.device_get_channel(raw, i);
        const bool wanted =
            libiio_.channel_is_output(channel) == output &&
            std::any_of(format.channels.begin(), format.channels.end(),
                        [&](const Channel& c) { return c.id == libiio_.channel_get_id(channel); });
        if (wanted)
            libiio_.channel_enable(channel);
        else
            libiio_.channel_disable(channel);
    }
    const auto ms = static_cast<unsigned>(timeout_ns / 1'000'000);
    (void)!libiio_.context_set_timeout(context.raw(), ms);
    // If the number cannot be set, the device uses the default.
    (void)!libiio_.device_set_kernel_buffers_count(raw, kRemoteBlocks);
    const sys::CapturedStderr captured;
    errno = 0;
    buffer_ = libiio_.device_create_buffer(raw, bytes / sample_bytes_, false);
    if (buffer_ == nullptr)
        throw Error(Fault::device, errno == 0 ? EIO : errno, "open the buffer of", device.name());
    if (const auto size = libiio_.device_get_sample_size(raw);
        size != static_cast<ssize_t>(sample_bytes_)) {
        libiio_.buffer_destroy(buffer_);
        throw Error(Fault::device, EPROTO, "open the buffer of", device.name(),
                    "libiio reports samples of " + std::to_string(size) + " bytes, not " +
                        std::to_string(sample_bytes_));
    }
}

RemoteBuffer::~RemoteBuffer()
{
    libiio_.buffer_destroy(buffer_);
}

std::ptrdiff_t RemoteBuffer::refill() noexcept
{
    return libiio_.buffer_refill(buffer_);
}

int RemoteBuffer::push(std::size_t bytes) noexcept
{
    const ssize_t sent = libiio_.buffer_push_partial(buffer_, bytes / sample_bytes_);
    return sent < 0 ? static_cast<int>(-sent) : 0;
}

void RemoteBuffer::cancel() noexcept
{
    libiio_.buffer_cancel(buffer_);
}

std::span<std::byte> RemoteBuffer::data() const noexcept
{
    auto* start = static_cast<std::byte*>(libiio_.buffer_start(buffer_));
    auto* end = static_cast<std::byte*>(libiio_.buffer_end(buffer_));
    return {start, end};
}

} // namespace iio_stream::iio
