// SPDX-License-Identifier: MIT
#include "settings.hpp"

#include "iio_stream/reader.hpp"

#include <cstdlib>
#include <map>
#include <mutex>

namespace iio_stream::compat {

namespace {

// DEFAULT_TIMEOUT_MS and NB_BLOCKS in local.c of libiio 0.25.
constexpr std::chrono::milliseconds kLocalTimeout{1000};
constexpr unsigned kKernelBuffers = 4;

struct Noted {
    std::mutex mutex;
    std::map<const iio_context*, std::chrono::milliseconds> timeouts;
    std::map<const iio_device*, unsigned> kernel_buffers;
};

Noted& noted()
{
    static Noted* const all = new Noted; // never destroyed: programs also call libiio from atexit()
    return *all;
}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string wanted_path()
{
    const std::string path = variable("IIO_STREAM_PATH");
    return path == "auto" ? "" : path;
}

} // namespace

const Settings& Settings::get()
{
    static const auto* const settings = new Settings{
        variable("IIO_STREAM_QUIET") == "1", wanted_path(), variable("IIO_STREAM_METRICS_FILE")};
    return *settings;
}

void note_timeout(const iio_context* context, unsigned ms)
{
    const std::lock_guard lock(noted().mutex);
    noted().timeouts[context] = std::chrono::milliseconds(ms);
}

void note_kernel_buffers(const iio_device* device, unsigned count)
{
    const std::lock_guard lock(noted().mutex);
    noted().kernel_buffers[device] = count;
}

void forget(const iio_context* context)
{
    const std::lock_guard lock(noted().mutex);
    noted().timeouts.erase(context);
    for (unsigned i = 0; i < iio_context_get_devices_count(context); ++i)
        noted().kernel_buffers.erase(iio_context_get_device(context, i));
}

std::chrono::nanoseconds timeout_of(const iio_device* device)
{
    const std::lock_guard lock(noted().mutex);
    const auto at = noted().timeouts.find(iio_device_get_context(device));
    if (at == noted().timeouts.end())
        return kLocalTimeout;
    return at->second.count() == 0 ? kForever : std::chrono::nanoseconds(at->second);
}

unsigned kernel_buffers_of(const iio_device* device)
{
    const std::lock_guard lock(noted().mutex);
    const auto at = noted().kernel_buffers.find(device);
    return at == noted().kernel_buffers.end() ? kKernelBuffers : at->second;
}

} // namespace iio_stream::compat
