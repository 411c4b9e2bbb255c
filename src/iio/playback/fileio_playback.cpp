// SPDX-License-Identifier: MIT
#include "iio/buffer/fileio_order.hpp"
#include "iio/playback/playback.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <span>

namespace iio_stream::iio {

namespace {

constexpr std::uint64_t kKernelBlocks = 2; ///< kernel blocks that write() uses with a DMA buffer

/// Plays by write(). The kernel copies the samples into two blocks of its own and plays these in
/// turn, or copies them into its software FIFO (kfifo), which has no blocks.
class FileioPlayback final : public Playback {
public:
    explicit FileioPlayback(const PlaybackContext& context) : Playback(context) {}

    // write() copies, so a worker thread calls it.
    bool may_block() const noexcept override { return true; }
    bool prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string& why) override;
    void submit(Block filled) override;
    void service() override;
    Wait wait() override { return repeating_ ? Wait{context_.file.fd(), POLLOUT} : Wait{}; }
    std::size_t pending() const noexcept override { return 0; }
    void flush() override;
    void drain() override;
    void close() noexcept override;
    bool is_supplied() const override { return !all_played(); }

private:
    void play(const Block& filled);
    void write(std::span<const std::byte> data);
    std::size_t piece(std::size_t bytes) const noexcept;
    void await_room(std::int64_t deadline) const;
    void wrote(std::size_t bytes);
    bool all_played() const;

    std::size_t kernel_block_ = 0; ///< in bytes
    std::size_t in_block_ = 0;     ///< bytes in the kernel block being filled
    std::size_t room_ = 0;         ///< bytes in all kernel blocks when all are free
    bool dma_ = true;
    std::size_t next_ = 0; ///< index of the cycle's next lease
    bool repeating_ = false;
};

bool FileioPlayback::prepare(const StreamInfo& stream, BlockPool& pool, int cancel, std::string&)
{
    reset(stream, pool, cancel);
    const std::size_t sample = context_.format.sample_bytes;
    dma_ = context_.dir.is_dma();
    // The software FIFO is one allocation, limited to what kmalloc() can allocate.
    const std::size_t most = dma_ ? kMaxKernelBlock : kMaxKernelBlock / 2;
    const std::size_t scans = std::min(stream.block_size, most) / sample;
    kernel_block_ = scans * sample;
    in_block_ = next_ = 0;
    repeating_ = false;
    (void)context_.dir.set_length(2 * scans);
    return true;
}

void FileioPlayback::submit(Block filled)
{
    if (!enabled_) {
        enable();
        room_ = context_.dir.data_available();
    }
    if (context_.cyclic != Cyclic::off)
        cycle_.keep(filled.share());
    play(filled);
}

void FileioPlayback::flush()
{
    if (repeating_ || context_.cyclic == Cyclic::off || cycle_.leases().empty())
        return;
    repeating_ = true;
    context_.counts.repeating = Repeating::software;
}

void FileioPlayback::play(const Block& filled)
{
    const CpuRead data{filled};
    write(data.bytes());
}

void FileioPlayback::service()
{
    if (!repeating_)
        return;
    play(cycle_.leases()[next_]);
    next_ = (next_ + 1) % cycle_.leases().size();
    if (next_ == 0)
        count(context_.counts.repeats);
}

// The kernel queues a block when its last sample is written. That sample is written separately,
// because the device can still run empty until then.
std::size_t FileioPlayback::piece(std::size_t bytes) const noexcept
{
    const std::size_t left = kernel_block_ - in_block_, last = context_.format.sample_bytes;
    return dma_ ? std::min(bytes, left > last ? left - last : left) : bytes;
}

void FileioPlayback::write(std::span<const std::byte> data)
{
    const BufferFile& file = context_.file;
    std::int64_t deadline = sys::after(timeout_ns_);
    while (!data.empty()) {
        await_room(deadline);
        const std::size_t next = piece(data.size());
        const bool queues = !dma_ || in_block_ + next == kernel_block_;
        const bool dry = queues && context_.counts.given != 0 && all_played();
        const std::ptrdiff_t written = sys::write_some(file.fd(), file.path(), data.first(next));
        if (written == -ENODEV)
            fail_ended(ENODEV);
        if (written <= 0)
            continue;
        if (dry)
            count(context_.counts.underflows);
        wrote(static_cast<std::size_t>(written));
        data = data.subspan(static_cast<std::size_t>(written));
        deadline = sys::after(timeout_ns_);
    }
}

void FileioPlayback::await_room(std::int64_t deadline) const
{
    pollfd fds[] = {{context_.file.fd(), POLLOUT, 0}, {cancel_, POLLIN, 0}};
    const std::int64_t left = deadline - sys::monotonic_ns();
    if (left <= 0)
        fail_late();
    (void)::poll(fds, 2, static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 500)));
    if (fds[1].revents != 0)
        throw Error(Fault::device, ECANCELED, "write", context_.file.path(),
                    "stopped before all was written");
}

void FileioPlayback::wrote(std::size_t bytes)
{
    PlaybackCounts& counts = context_.counts;
    count(counts.moves);
    if (dma_ && counts.given >= kKernelBlocks)
        counts.begun = true; // earlier blocks were played and have made room
    in_block_ = dma_ ? (in_block_ + bytes) % kernel_block_ : 0;
    if (in_block_ == 0)
        count(counts.given);
}

// A DMA buffer reports the number of bytes it has room for; the software FIFO reports the number of
// samples it holds.
bool FileioPlayback::all_played() const
{
    const std::size_t available = context_.dir.data_available();
    return dma_ ? available >= room_ : available == 0;
}

// The kernel plays only whole kernel blocks, and discards unplayed samples when the buffer is
// disabled. The last block is therefore padded with zeros, and the function waits while the device
// plays.
void FileioPlayback::drain()
{
    static constexpr std::array<std::byte, 4096> kZeros{};
    if (!enabled_)
        return;
    if (in_block_ != 0)
        remark_ = "with write(), the kernel plays only whole blocks: " +
                  std::to_string((kernel_block_ - in_block_) / context_.format.sample_bytes) +
                  " samples of zeros follow the last one";
    while (in_block_ != 0)
        write(std::span(kZeros).first(std::min(kernel_block_ - in_block_, kZeros.size())));
    std::int64_t deadline = sys::after(timeout_ns_);
    std::size_t before = context_.dir.data_available();
    while (!all_played()) {
        if (!context_.dir.is_enabled() || sys::monotonic_ns() >= deadline)
            fail_late();
        if (const std::size_t now = context_.dir.data_available(); now != before) {
            before = now;
            count(context_.counts.moves);
            deadline = sys::after(timeout_ns_);
        }
        if (sys::wait_for(cancel_, POLLIN, sys::after(2'000'000)))
            return; // the wait was cancelled, and the canceller reports the reason
    }
}

void FileioPlayback::close() noexcept
{
    context_.dir.disable();
    cycle_.clear();
    repeating_ = enabled_ = false;
}

} // namespace

std::unique_ptr<Playback> make_fileio_playback(const PlaybackContext& context)
{
    return std::make_unique<FileioPlayback>(context);
}

} // namespace iio_stream::iio
