// SPDX-License-Identifier: MIT
#include "iio/remote_buffer.hpp"

#include "core/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <iio.h>
#include <iterator>

namespace iio_stream::iio {

Format choose_channels(const Device& device, const std::string& names, Iq iq, bool output)
{
    Format format;
    std::vector<std::string> remarks;
    const std::vector<Channel> elements = device.scan_elements(output, remarks);
    std::vector<std::string> known;
    for (const Channel& element : elements)
        known.push_back(element.id);
    if (names.empty() && !remarks.empty())
        throw Error(Fault::device, EPROTO, "stream", device.name(), remarks[0],
                    "channels= chooses those that can be understood");
    std::vector<std::string> wanted = detail::split(names);
    for (const std::string& name : wanted)
        if (std::find(known.begin(), known.end(), name) == known.end())
            fail_usage(device.name() + " has no channel '" + name + "'",
                       remarks.empty() ? suggest(name, known) : remarks[0]);
    if (names.empty()) // as for a local device: all except the CPU's timestamp
        std::copy_if(known.begin(), known.end(), std::back_inserter(wanted),
                     [](const std::string& name) { return name != "timestamp"; });
    for (const Channel& element : elements)
        if (std::find(wanted.begin(), wanted.end(), element.id) != wanted.end())
            format.channels.push_back(element);
    if (format.channels.empty())
        fail_usage(device.name() + " has no " + (output ? "output" : "input") + " channels to stream");
    pair_up(device.name(), format.channels, iq);
    format.lay_out();
    return format;
}

RemoteBuffer::RemoteBuffer(const Device& device, const Format& format, std::size_t bytes,
                           bool output, std::int64_t timeout_ns)
    : buffer_(nullptr), sample_bytes_(format.sample_bytes)
{
    iio_device* raw = device.raw();
    for (unsigned i = 0; i < iio_device_get_channels_count(raw); ++i) {
        iio_channel* channel = iio_device_get_channel(raw, i);
        const bool wanted =
            iio_channel_is_output(channel) == output &&
            std::any_of(format.channels.begin(), format.channels.end(),
                        [&](const Channel& c) { return c.id == iio_channel_get_id(channel); });
        if (wanted)
            iio_channel_enable(channel);
        else
            iio_channel_disable(channel);
    }
    const auto ms = static_cast<unsigned>(timeout_ns / 1'000'000);
    (void)!iio_context_set_timeout(device.context().get(), ms);
    // A device that cannot be asked uses the default.
    (void)!iio_device_set_kernel_buffers_count(raw, kRemoteBlocks);
    errno = 0;
    buffer_ = iio_device_create_buffer(raw, bytes / sample_bytes_, false);
    if (buffer_ == nullptr)
        throw Error(Fault::device, errno == 0 ? EIO : errno, "open the buffer of", device.name());
    if (const auto size = iio_device_get_sample_size(raw);
        size != static_cast<ssize_t>(sample_bytes_)) {
        iio_buffer_destroy(buffer_);
        throw Error(Fault::device, EPROTO, "open the buffer of", device.name(),
                    "libiio says that samples have " + std::to_string(size) + " bytes, not " +
                        std::to_string(sample_bytes_));
    }
}

RemoteBuffer::~RemoteBuffer()
{
    iio_buffer_destroy(buffer_);
}

std::ptrdiff_t RemoteBuffer::refill() noexcept
{
    return iio_buffer_refill(buffer_);
}

int RemoteBuffer::push(std::size_t bytes) noexcept
{
    const ssize_t sent = iio_buffer_push_partial(buffer_, bytes / sample_bytes_);
    return sent < 0 ? static_cast<int>(-sent) : 0;
}

void RemoteBuffer::cancel() noexcept
{
    iio_buffer_cancel(buffer_);
}

std::span<std::byte> RemoteBuffer::data() const noexcept
{
    auto* start = static_cast<std::byte*>(iio_buffer_start(buffer_));
    auto* end = static_cast<std::byte*>(iio_buffer_end(buffer_));
    return {start, end};
}

} // namespace iio_stream::iio
