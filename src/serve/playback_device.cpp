// SPDX-License-Identifier: MIT
#include "serve/playback_device.hpp"

#include "iio/buffer/buffer_dir.hpp"
#include "iio_stream/error.hpp"
#include "serve/device_uri.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <numeric>
#include <thread>

namespace iio_stream::serve {

namespace {

// A short cyclic buffer is repeated within a block, so that the CPU is not needed for every round.
constexpr std::size_t kFewestCyclicBytes = 64 << 10;
// A device has failed if it plays nothing for a second longer than two blocks take. It begins to
// play when all blocks are full, or when no further block arrives for half of that time. iiod
// begins at once, but drops the queued samples when a client closes its buffer; here the device
// gets kDrainNs to play them.
constexpr std::int64_t kDrainNs = 1'000'000'000;
constexpr double kUnknownBlockSeconds = 2, kMostSeconds = 1e6;

[[noreturn]] void fail_size(const char* operation, std::size_t bytes)
{
    throw Error(Fault::other, ENOMEM, operation, std::to_string(bytes) + " bytes", {},
                "a larger --memory");
}

// Returns a block size of whole samples and whole DMA words or, for a cyclic buffer, of whole
// rounds.
std::size_t block_bytes(const PlaybackDevice& device, std::size_t sample_bytes, std::size_t most)
{
    const std::size_t unit = std::lcm(sample_bytes, device.align);
    if (unit > most)
        fail_size("make blocks of", unit);
    if (!device.shown.cyclic)
        return (std::min(device.buffer_bytes, most - unit + 1) + unit - 1) / unit * unit;
    if (device.buffer_bytes > most)
        fail_size("repeat", device.buffer_bytes);
    const std::size_t round = std::lcm(device.buffer_bytes, device.align);
    if (round > most)
        fail_size("repeat", round);
    return round * std::max<std::size_t>(1, std::min(kFewestCyclicBytes, most) / round);
}

} // namespace

void PlaybackDevice::begin(std::uint64_t samples, std::size_t blocks, std::size_t memory)
{
    const iio::BufferDir dir(shown.device, shown.device, 0);
    const Format format = dir.choose(joined(shown.channels), iio::Iq::off);
    align = dir.alignment();
    buffer_bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(samples, SIZE_MAX / format.sample_bytes)) *
        format.sample_bytes;
    Uri sink = uri_of(shown.device, shown.channels);
    sink.options.set("powerdown", "keep"); // as with iiod, the client controls it
    if (shown.cyclic)
        sink.options.set("cyclic", "on");
    const std::size_t bytes = block_bytes(*this, format.sample_bytes, memory / blocks);
    const double rate = iio::sample_rate_of(dir.device_dir(), true).value;
    const double block_s =
        rate > 0 ? static_cast<double>(bytes / format.sample_bytes) / rate : kUnknownBlockSeconds;
    const auto timeout = std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::min(2 * block_s + 1, kMostSeconds) * 1e9));
    writer = std::make_unique<Writer>(
        PipelineConfig{.sinks = {sink}, .block_size = bytes, .blocks = blocks, .timeout = timeout},
        format);
    shown.route = writer->route();
    writer->start();
}

void PlaybackDevice::drain() noexcept
{
    writer->stop();
    const std::int64_t deadline = sys::after(kDrainNs);
    while (stats().played < received && sys::monotonic_ns() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

ServedPlayer PlaybackDevice::stats() const
{
    ServedPlayer now = shown;
    now.samples = received;
    for (const SinkStats& sink : writer->stats().sinks) {
        now.played = sink.delivered_samples;
        if (sink.playback)
            now.underflows = sink.playback->underflows;
    }
    return now;
}

} // namespace iio_stream::serve
