// SPDX-License-Identifier: MIT
#include "iio/probe/dma_write_test.hpp"

#include "core/base/align.hpp"
#include "core/memory/bounce.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio/buffer/dma.hpp"
#include "iio/buffer/dmabuf_queue.hpp"
#include "iio_stream/error.hpp"
#include "sys/device/iio_buffer.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <numeric>
#include <poll.h>
#include <vector>

namespace iio_stream::iio {

namespace {

constexpr std::size_t kTestBlocks = 16, kTestBytes = 256 * 1024; ///< largest block in bytes
constexpr double kTestBlockSeconds = 0.02;                       ///< about the duration of a block
constexpr std::int64_t kTimeout = 2'000'000'000;

// The size of a block for the test: a multiple of the page, the sample and the DMA alignment.
std::size_t test_block_bytes(const BufferDir& dir, const Format& format)
{
    const std::size_t unit =
        std::lcm(std::lcm(dir.alignment(), format.sample_bytes), detail::kPage);
    const double rate = sample_rate_of(dir.device_dir(), false).value;
    const double bytes = rate > 0
                             ? rate * kTestBlockSeconds * static_cast<double>(format.sample_bytes)
                             : static_cast<double>(kTestBytes);
    const auto most = static_cast<std::size_t>(std::min<double>(bytes, kTestBytes));
    return std::max(most / unit, std::size_t{1}) * unit;
}

// Switches the device on, and off again in the destructor.
class Enabled {
public:
    explicit Enabled(BufferDir& dir) : dir_(dir) { dir_.enable(); }
    Enabled(const Enabled&) = delete;
    ~Enabled() { dir_.take_back(); }

private:
    BufferDir& dir_;
};

void fill_all(BufferDir& dir, DmabufQueue& queue, const std::string& name)
{
    const Enabled enabled(dir);
    const std::int64_t until = sys::monotonic_ns() + kTimeout;
    while (queue.pending() != 0) {
        if (!sys::wait_for(queue.wait_fd(), POLLIN, until))
            throw Error(Fault::device, ETIMEDOUT, "probe", name, "no block came within 2 s");
        while (const auto done = queue.take())
            if (done->error != 0)
                throw Error(Fault::device, done->error, "DMA into", "a block for " + name);
    }
}

using Tests = std::vector<std::unique_ptr<detail::BounceTest>>;

std::string count_untouched(const Tests& tests, std::size_t bytes)
{
    std::size_t untouched = 0;
    for (const auto& test : tests)
        untouched += test->untouched(bytes);
    if (untouched == 0)
        return "";
    return std::to_string(untouched) + " of " +
           std::to_string(tests.size() * bytes / detail::kPage) +
           " pages were not written by the DMA: the kernel may use copies of them (swiotlb)";
}

} // namespace

std::optional<std::string> dma_write_test(const Device& device, const BufferSettings& settings,
                                          const Memory& memory, std::size_t& block_size)
{
    BufferDir dir(device.id(), settings.name, settings.buffer);
    const BufferFile file(device.id(), settings.buffer, kInUseWaitNs);
    if (file.dmabuf_refusal() != 0 || dir.is_output())
        return std::nullopt;
    dir.disable_leftover();
    const Format format = dir.choose(settings.channels, settings.iq);
    dir.enable_channels(format);
    const std::size_t bytes = test_block_bytes(dir, format);
    const BlockPool pool(memory, bytes, kTestBlocks, CpuUse::mapped);
    block_size = bytes;
    if (detail::sync_reveals_bounces(memory))
        if (std::string why = why_not_reached(dir, file.fd(), pool); !why.empty())
            return why;
    Tests tests;
    for (std::size_t i = 0; i < pool.count(); ++i)
        tests.push_back(std::make_unique<detail::BounceTest>(pool, i));
    DmabufQueue queue(file.fd());
    if (int error = 0; !queue.attach(dir, pool, error))
        return std::nullopt;
    (void)dir.set_length(bytes / format.sample_bytes);
    for (std::size_t i = 0; i < pool.count(); ++i)
        (void)queue.enqueue(i, bytes);
    fill_all(dir, queue, settings.name);
    queue.detach();
    return count_untouched(tests, bytes);
}

} // namespace iio_stream::iio
