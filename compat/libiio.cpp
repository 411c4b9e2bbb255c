// SPDX-License-Identifier: MIT
// A libiio.so.0 that replaces only the buffers, so that unchanged programs for libiio 0.x use the
// engine of iio-stream.
//
// `iio-stream run` puts it first on the program's library path. It depends on the machine's libiio
// by its absolute path. The loader compares names and inodes, so it treats that library as a
// different one. Symbols that are not defined here are found there, both by programs and by dlsym()
// on the handle of this library, as in ctypes.
//
// This library makes the buffers of local contexts; the machine's libiio makes the buffers of other
// contexts. That library calls some of its exported functions through its PLT (push from
// push_partial; first, end and step from channel_read), and the loader binds these calls to the
// functions here. Therefore the address of kOurs at the start of a buffer distinguishes the two
// kinds. The engine, which may use libiio.so.0 itself, does not recurse into this library: it opens
// libiio's buffers only in remote contexts.
#include "iio_stream/error.hpp"
#include "real.hpp"
#include "settings.hpp"
#include "stream.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <iio.h>
#include <new>
#include <optional>

using iio_stream::compat::Layout;
using iio_stream::compat::Settings;
using iio_stream::compat::Stream;

namespace {
const char kOurs =
    0; ///< its address is the first word of our buffers; libiio's begin with their device's address
}

struct iio_buffer {
    const void* mark = &kOurs; ///< must come first
    std::unique_ptr<Stream> stream;
    void* data = nullptr;
};

namespace {

bool is_ours(const iio_buffer* buffer)
{
    const void* first;
    std::memcpy(&first, buffer, sizeof first);
    return first == &kOurs;
}

bool is_local(const iio_device* device)
{
    const char* name = iio_context_get_name(iio_device_get_context(device));
    return name != nullptr && std::strcmp(name, "local") == 0;
}

void say(const iio_device* device, const char* what)
{
    if (!Settings::get().quiet)
        std::fprintf(stderr, "iio-stream: %s: %s; libiio's own buffer is used\n",
                     iio_device_get_id(device), what);
}

// Returns a buffer of the engine. Returns no value if the machine's libiio must create the buffer
// or report the error. Returns null and sets errno if the device is busy. The machine's libiio must
// not be called in this case: it might find the device free a moment later, and the program would
// have a buffer without loss accounting.
std::optional<iio_buffer*> ours(const iio_device* device, std::size_t samples, bool cyclic)
try {
    const std::string& path = Settings::get().path;
    if (path == "off" || samples == 0 || !is_local(device))
        return std::nullopt;
    if (!path.empty() && path != "dmabuf" && path != "mmap" && path != "fileio") {
        say(device,
            ("IIO_STREAM_PATH=" + path + " is not auto, dmabuf, mmap, fileio or off").c_str());
        return std::nullopt;
    }
    Layout layout(device);
    if (layout.channels.empty())
        return std::nullopt;
    if (iio_device_get_sample_size(device) != static_cast<ssize_t>(layout.format.sample_bytes)) {
        say(device, "libiio uses a different sample layout");
        return std::nullopt;
    }
    auto buffer = std::make_unique<iio_buffer>();
    const bool output = layout.output;
    buffer->stream =
        output ? playback(std::move(layout), samples, cyclic) : capture(std::move(layout), samples);
    return buffer.release();
} catch (const iio_stream::Error& error) {
    if (error.code().value() == EBUSY) {
        errno = EBUSY;
        return nullptr;
    }
    say(device, error.what());
    return std::nullopt;
} catch (const std::bad_alloc&) {
    return std::nullopt;
}

/// Calls copy(value, done, bytes) for each value of the channel that fits into `room` bytes.
/// Returns the number of bytes copied.
template <typename Copy>
size_t each_value(const iio_channel* channel, const iio_buffer* buffer, size_t room, Copy copy)
{
    const iio_data_format* format = iio_channel_get_data_format(channel);
    const size_t bytes = format->length / 8 * format->repeat;
    const auto* end = static_cast<const char*>(iio_buffer_end(buffer));
    const ptrdiff_t step = iio_buffer_step(buffer);
    size_t done = 0;
    for (auto* at = static_cast<char*>(iio_buffer_first(buffer, channel));
         at < end && done + bytes <= room; at += step) {
        copy(at, done, bytes);
        done += bytes;
    }
    return done;
}

} // namespace

extern "C" {

iio_buffer* iio_device_create_buffer(const iio_device* device, size_t samples, bool cyclic)
{
    // Without this check the product would wrap around, and the buffer would be too small.
    if (const ssize_t bytes = iio_device_get_sample_size(device);
        bytes > 0 && samples > static_cast<size_t>(SSIZE_MAX / bytes)) {
        errno = ERANGE;
        return nullptr;
    }
    if (const auto buffer = ours(device, samples, cyclic))
        return *buffer;
    return REAL(iio_device_create_buffer)(device, samples, cyclic);
}

void iio_buffer_destroy(iio_buffer* buffer)
{
    if (is_ours(buffer))
        delete buffer;
    else
        REAL(iio_buffer_destroy)(buffer);
}

ssize_t iio_buffer_refill(iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->refill() : REAL(iio_buffer_refill)(buffer);
}

ssize_t iio_buffer_push(iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->push(buffer->stream->samples().size())
                           : REAL(iio_buffer_push)(buffer);
}

ssize_t iio_buffer_push_partial(iio_buffer* buffer, size_t samples)
{
    if (!is_ours(buffer))
        return REAL(iio_buffer_push_partial)(buffer, samples);
    const size_t most =
        buffer->stream->samples().size() / buffer->stream->layout().format.sample_bytes;
    if (samples == 0 || samples > most)
        return -EINVAL;
    return buffer->stream->push(samples * buffer->stream->layout().format.sample_bytes);
}

void* iio_buffer_start(const iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->samples().data() : REAL(iio_buffer_start)(buffer);
}

void* iio_buffer_end(const iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->samples().data() + buffer->stream->samples().size()
                           : REAL(iio_buffer_end)(buffer);
}

void* iio_buffer_first(const iio_buffer* buffer, const iio_channel* channel)
{
    if (!is_ours(buffer))
        return REAL(iio_buffer_first)(buffer, channel);
    const std::ptrdiff_t offset = buffer->stream->layout().offset_of(channel);
    if (offset < 0 || buffer->stream->samples().empty() || !iio_channel_is_enabled(channel))
        return iio_buffer_end(buffer);
    return buffer->stream->samples().data() + offset;
}

ptrdiff_t iio_buffer_step(const iio_buffer* buffer)
{
    return is_ours(buffer) ? static_cast<ptrdiff_t>(buffer->stream->layout().format.sample_bytes)
                           : REAL(iio_buffer_step)(buffer);
}

ssize_t iio_buffer_foreach_sample(iio_buffer* buffer,
                                  ssize_t (*each)(const iio_channel*, void*, size_t, void*),
                                  void* data)
{
    if (!is_ours(buffer))
        return REAL(iio_buffer_foreach_sample)(buffer, each, data);
    const Layout& layout = buffer->stream->layout();
    const std::span<char> samples = buffer->stream->samples();
    ssize_t sum = 0;
    for (size_t at = 0; at + layout.format.sample_bytes <= samples.size();
         at += layout.format.sample_bytes)
        for (size_t i = 0; i < layout.channels.size(); ++i) {
            const iio_channel* channel = layout.channels[i];
            if (!iio_channel_is_enabled(channel)) // disabled after the buffer was created
                continue;
            const ssize_t got =
                each(channel, samples.data() + at + layout.format.channels[i].offset,
                     iio_channel_get_data_format(channel)->length / 8, data);
            if (got < 0)
                return got;
            sum += got;
        }
    return sum;
}

void iio_buffer_cancel(iio_buffer* buffer)
{
    if (is_ours(buffer))
        buffer->stream->cancel();
    else
        REAL(iio_buffer_cancel)(buffer);
}

int iio_buffer_get_poll_fd(iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->poll_fd() : REAL(iio_buffer_get_poll_fd)(buffer);
}

int iio_buffer_set_blocking_mode(iio_buffer* buffer, bool blocking)
{
    if (!is_ours(buffer))
        return REAL(iio_buffer_set_blocking_mode)(buffer, blocking);
    buffer->stream->set_blocking(blocking);
    return 0;
}

const iio_device* iio_buffer_get_device(const iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->stream->layout().device : REAL(iio_buffer_get_device)(buffer);
}

void iio_buffer_set_data(iio_buffer* buffer, void* data)
{
    if (is_ours(buffer))
        buffer->data = data;
    else
        REAL(iio_buffer_set_data)(buffer, data);
}

void* iio_buffer_get_data(const iio_buffer* buffer)
{
    return is_ours(buffer) ? buffer->data : REAL(iio_buffer_get_data)(buffer);
}

// The machine's iio_channel_read() and similar functions would work if they called first, step and
// end through the PLT. A libiio that was linked with -Bsymbolic would treat our buffer as its own.

size_t iio_channel_read_raw(const iio_channel* channel, iio_buffer* buffer, void* out, size_t room)
{
    if (!is_ours(buffer))
        return REAL(iio_channel_read_raw)(channel, buffer, out, room);
    return each_value(channel, buffer, room, [&](const char* value, size_t done, size_t bytes) {
        std::memcpy(static_cast<char*>(out) + done, value, bytes);
    });
}

size_t iio_channel_read(const iio_channel* channel, iio_buffer* buffer, void* out, size_t room)
{
    if (!is_ours(buffer))
        return REAL(iio_channel_read)(channel, buffer, out, room);
    return each_value(channel, buffer, room, [&](const char* value, size_t done, size_t) {
        iio_channel_convert(channel, static_cast<char*>(out) + done, value);
    });
}

size_t iio_channel_write_raw(const iio_channel* channel, iio_buffer* buffer, const void* in,
                             size_t bytes)
{
    if (!is_ours(buffer))
        return REAL(iio_channel_write_raw)(channel, buffer, in, bytes);
    return each_value(channel, buffer, bytes, [&](char* value, size_t done, size_t width) {
        std::memcpy(value, static_cast<const char*>(in) + done, width);
    });
}

size_t iio_channel_write(const iio_channel* channel, iio_buffer* buffer, const void* in,
                         size_t bytes)
{
    if (!is_ours(buffer))
        return REAL(iio_channel_write)(channel, buffer, in, bytes);
    return each_value(channel, buffer, bytes, [&](char* value, size_t done, size_t) {
        iio_channel_convert_inverse(channel, value, static_cast<const char*>(in) + done);
    });
}

// These calls are passed on to the machine's library. Their arguments are stored, because that
// library has no getters for them.

int iio_device_set_kernel_buffers_count(const iio_device* device, unsigned count)
{
    const int error = REAL(iio_device_set_kernel_buffers_count)(device, count);
    if (error == 0)
        iio_stream::compat::note_kernel_buffers(device, count);
    return error;
}

int iio_context_set_timeout(iio_context* context, unsigned ms)
{
    const int error = REAL(iio_context_set_timeout)(context, ms);
    if (error == 0)
        iio_stream::compat::note_timeout(context, ms);
    return error;
}

void iio_context_destroy(iio_context* context)
{
    if (context != nullptr)
        iio_stream::compat::forget(context);
    REAL(iio_context_destroy)(context);
}

} // extern "C"
