// SPDX-License-Identifier: MIT
#include "iio/playback/playback.hpp"

#include "iio/buffer/dmabuf_queue.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::iio {

// Hardware does not count repetitions, so this returns as many as it has had time for.
std::uint64_t PlaybackCounts::repeats_at(double rate) const noexcept
{
    const std::int64_t since = since_ns, until = until_ns;
    if (since == 0)
        return repeats;
    const auto ns = static_cast<double>((until != 0 ? until : sys::monotonic_ns()) - since);
    const double rounds = ns * 1e-9 * rate / static_cast<double>(round_samples);
    return rounds < 1 ? 0 : static_cast<std::uint64_t>(rounds) - 1;
}

void Playback::reset(const StreamInfo& stream, BlockPool& pool, int cancel)
{
    timeout_ns_ = stream.timeout_ns;
    cancel_ = cancel;
    enabled_ = false;
    remark_.clear();
    cycle_.reset(pool, context_.dir.alignment(), context_.name);
}

// Blocks that wait here are not available to a source that samples at its own pace. The blocks of a
// source that follows the device come one block duration apart.
void Playback::plan_prefill(const StreamInfo& stream, std::size_t blocks,
                            std::size_t bytes) noexcept
{
    constexpr std::int64_t kPauseNs = 500'000'000, kUnknownNs = 5'000'000'000;
    prefill_ = stream.live ? std::max<std::size_t>(blocks / 2, 1) : blocks;
    const double block_s =
        static_cast<double>(bytes / context_.format.sample_bytes) / context_.rate;
    const bool known = context_.rate > 0 && block_s < 1e9;
    patience_ns_ =
        std::min(stream.timeout_ns / 2,
                 known ? kPauseNs + static_cast<std::int64_t>(block_s * 1e9) : kUnknownNs);
}

void Playback::enable()
{
    context_.dir.enable();
    note_enabled();
}

void Playback::note_enabled() noexcept
{
    enabled_ = true;
    progress_ns_ = sys::monotonic_ns();
}

void Playback::fail_late() const
{
    if (!context_.dir.is_enabled())
        fail_ended(EINTR);
    throw Error(Fault::device, ETIMEDOUT, "play a block on", context_.name,
                "it was not done within " + std::to_string(timeout_ns_ / 1'000'000) + " ms",
                "--timeout changes the deadline");
}

void Playback::fail_ended(int error) const
{
    const std::string& name = context_.name;
    if (!context_.dir.exists())
        throw Error(Fault::device, ENODEV, "write to", name, "the device is gone");
    if (error == EINTR)
        throw Error(Fault::device, ECANCELED, "write to", name,
                    "another process disabled the buffer",
                    "another program has written 0 to " + context_.dir.path() + "/enable");
    if (error == ENOMEM)
        throw Error(Fault::device, error, "DMA from", "a block for " + name, kNoDescriptors,
                    kMoreDescriptors);
    throw Error(Fault::device, error, "DMA from", "a block for " + name);
}

} // namespace iio_stream::iio
