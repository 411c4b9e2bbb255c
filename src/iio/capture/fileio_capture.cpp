// SPDX-License-Identifier: MIT
#include "core/base/align.hpp"
#include "core/memory/fill_deadline.hpp"
#include "core/memory/fill_request.hpp"
#include "iio/buffer/fileio_order.hpp"
#include "iio/capture/capture.hpp"
#include "sys/event.hpp"
#include "sys/stream_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <poll.h>
#include <system_error>
#include <thread>
#include <utility>

namespace iio_stream::iio {

namespace {

constexpr std::size_t kLargestProbe = 1 << 20;
constexpr std::size_t kDropBytes = 1 << 14;
constexpr double kWakeUpSeconds = 0.01; ///< interval at which a software FIFO is read
/// The real rate may exceed the stated rate by one part in this many.
constexpr std::int64_t kRateExcess = 64;
/// While it is the other block's turn, a full block waits for at most the duration of
/// kBlocksOutOfTurn blocks plus kLongestOutOfTurn nanoseconds, even on a busy machine.
constexpr std::int64_t kBlocksOutOfTurn = 4, kLongestOutOfTurn = 3'000'000'000;

/// Captures by read(): the kernel fills two blocks of its own in turn and copies from them.
class FileioCapture final : public Capture {
public:
    explicit FileioCapture(const CaptureContext& context) : Capture(context) {}

    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        blocks_.push({std::move(block), bytes});
    }
    Taken take() override;
    Wait wait() override
    {
        return blocks_.empty() ? Wait{} : Wait{context_.file.fd(), POLLIN, deadline_.until_ns()};
    }
    std::size_t pending() const noexcept override { return blocks_.size(); }
    bool on_timeout() override;
    void run_meanwhile(const std::function<void()>& task) override;

private:
    bool read_more(detail::FillRequest& flight);
    bool try_read_more();
    std::size_t block_for_read(std::size_t block_size) const;
    std::ptrdiff_t read(std::span<std::byte> out);
    void drop_until(const sys::Event& over);
    void check_for_refusal(std::int64_t now);
    Block deliver();
    void check_for_starvation(std::int64_t now);
    std::int64_t fill_ns() const noexcept; ///< time to fill a kernel block; 0 = unknown
    void prepare_software_fifo(std::size_t block_size) const;

    detail::FillQueue blocks_;
    std::size_t kernel_block_ = 0; ///< bytes
    std::size_t filled_ = 0;       ///< bytes in the front block
    bool restarted_ = false, waited_ = false;
    detail::FillDeadline deadline_;
    bool dma_ = true;
    bool order_known_ = true; ///< the kernel returns the blocks in sample order
    /// When the kernel was first seen with a full block that read() does not return; 0 = it has
    /// none.
    std::int64_t withheld_ns_ = 0;
    std::int64_t started_ns_ = 0;
    std::int64_t idle_ns_ = 0; ///< when read() last returned nothing: both kernel blocks were empty
    std::int64_t returned_ns_[2]{}; ///< when the last two blocks were read completely
};

bool FileioCapture::prepare(BlockPool& pool, std::string&)
{
    // On a kernel with legacy blocks, read() is dangerous and is called no more than necessary.
    order_known_ = context_.file.blocks() == BufferFile::Blocks::none;
    dma_ = context_.dir.is_dma();
    if (context_.file.dmabuf_refusal() == 0) { // older kernels read their blocks in order
        const double per_second =
            context_.format.sample_rate * static_cast<double>(context_.format.sample_bytes);
        const auto probe_size = std::clamp<std::size_t>(static_cast<std::size_t>(per_second * 0.02),
                                                        4096, kLargestProbe);
        order_known_ = ensure_read_order(context_.dir, context_.file, context_.format, probe_size);
    }
    // The kernel halves the length, so its blocks are as large as ours if it can allocate them. A
    // kernel with legacy blocks may use a single block of the whole length for read(), and does not
    // report an error if the allocation fails.
    kernel_block_ = block_for_read(pool.block_size());
    if (dma_)
        (void)context_.dir.set_length(2 * (kernel_block_ / context_.format.sample_bytes));
    else
        prepare_software_fifo(kernel_block_);
    blocks_.reset(pool.count());
    filled_ = 0;
    deadline_.reset(context_.format, pool);
    withheld_ns_ = 0;
    restarted_ = waited_ = false;
    stats_ = {};
    return true;
}

// The size of a kernel block in bytes. read() returns nothing from a block until the DMA has filled
// it.
std::size_t FileioCapture::block_for_read(std::size_t block_size) const
{
    const bool one = context_.file.blocks() != BufferFile::Blocks::none;
    const std::size_t most = std::min(block_size, one ? kMaxKernelBlock / 4 : kMaxKernelBlock);
    const double bytes = detail::samples_in_time(context_.format) *
                         static_cast<double>(context_.format.sample_bytes);
    if (!dma_ || bytes >= static_cast<double>(most))
        return most;
    const std::size_t unit = std::lcm(std::lcm(context_.format.sample_bytes, detail::kWidestBus),
                                      context_.dir.alignment());
    return std::min(most, detail::round_up(static_cast<std::size_t>(bytes) + 1, unit));
}

// The software FIFO also has room for two blocks, limited to what kmalloc() can allocate. Its
// watermark is set because another program may have left one that is larger than the FIFO.
void FileioCapture::prepare_software_fifo(std::size_t block_size) const
{
    const std::size_t bytes = std::min(block_size, kMaxKernelBlock / 2);
    const std::size_t block = bytes / context_.format.sample_bytes;
    (void)context_.dir.set_length(2 * block);
    const double scans = context_.format.sample_rate * kWakeUpSeconds;
    context_.dir.set_watermark(
        static_cast<std::size_t>(std::clamp(scans, 1.0, static_cast<double>(block))));
}

void FileioCapture::start()
{
    started_ns_ = idle_ns_ = returned_ns_[0] = returned_ns_[1] = sys::monotonic_ns();
    context_.dir.enable();
}

void FileioCapture::stop() noexcept
{
    context_.dir.disable();
    blocks_.clear();
}

// Returns the number of bytes that were read; a negative number means that there are none yet.
std::ptrdiff_t FileioCapture::read(std::span<std::byte> out)
{
    const std::ptrdiff_t got = sys::read_some(context_.file.fd(), context_.file.path(), out);
    if (got == 0)
        fail_ended();
    return got;
}

// Reads until the block is full. Returns false if the device has to produce more samples first.
bool FileioCapture::read_more(detail::FillRequest& flight)
{
    const CpuWrite out{flight.block};
    while (filled_ < flight.bytes) {
        const std::ptrdiff_t got = read(out.bytes().subspan(filled_, flight.bytes - filled_));
        if (got < 0) {
            waited_ = true;
            idle_ns_ = sys::monotonic_ns();
            check_for_refusal(idle_ns_);
            return false;
        }
        filled_ += static_cast<std::size_t>(got);
        withheld_ns_ = 0;
    }
    return true;
}

// A block that the DMA driver refused never becomes full. While it is that block's turn, read()
// returns nothing, but poll() reports data because of the other block.
void FileioCapture::check_for_refusal(std::int64_t now)
{
    if (!dma_ || !sys::wait_for(context_.file.fd(), POLLIN, now)) {
        withheld_ns_ = 0;
    } else if (withheld_ns_ == 0) {
        withheld_ns_ = now;
    } else if (now - withheld_ns_ > kLongestOutOfTurn + kBlocksOutOfTurn * fill_ns()) {
        throw Error(
            Fault::device, EIO, "read", context_.file.path(),
            "the kernel has samples but does not return them: the DMA driver refused a block",
            "see dmesg");
    }
}

Taken FileioCapture::take()
{
    if (blocks_.empty())
        return {};
    const bool full = try_read_more();
    deadline_.filled(filled_);
    if (!full && (filled_ == 0 || !(flushing_ || deadline_.due() != 0)))
        return {};
    return {deliver(), false};
}

// At the end of a stream, the samples that have arrived matter more than an error.
bool FileioCapture::try_read_more()
{
    try {
        return read_more(blocks_.front());
    } catch (const Error& error) {
        if (flushing_ && filled_ != 0)
            return false;
        if (error.code().value() == ENODEV || error.code().value() == ESHUTDOWN)
            fail_ended();
        throw;
    }
}

Block FileioCapture::deliver()
{
    const std::int64_t now = sys::monotonic_ns();
    detail::FillRequest flight = blocks_.pop();
    flight.bytes = std::exchange(filled_, 0);
    deadline_.filled(0);
    (void)context_.overflow_detector.report(context_.tracker, now);
    if (context_.counter != nullptr) {
        const CpuRead data{flight.block};
        context_.counter->report_gaps(data.bytes().first(flight.bytes), context_.tracker, now);
    }
    const std::size_t sample = context_.format.sample_bytes;
    // The sum of both kernel blocks, one block for the FIFO, and one for rounding.
    context_.tuning.completed(context_.tracker, {flight.bytes / sample, now, TuningWatch::kAnyTime,
                                                 4 * (kernel_block_ / sample)});
    const Time time{Clock::monotonic, now, static_cast<std::uint64_t>(now - idle_ns_)};
    BlockState state = BlockState::complete;
    if (!order_known_ && context_.tracker.sequence() < 2) {
        state = BlockState::unverified; // the first two blocks may have been swapped
        ++stats_.unverified_blocks;
    }
    Block filled = std::move(flight.block).fill(context_.tracker.next(flight.bytes, time, state));
    context_.overflow_detector.completed(context_.tracker.position(), now, idle_ns_,
                                         returned_ns_[1]);
    check_for_starvation(now);
    return filled;
}

// If a block could be read without waiting, it was full when the previous block was returned, and
// the device may have had no block until then. The device got this block when the block before the
// previous one was returned, so it was not full before that. At the start the device has both
// blocks and an empty FIFO, so the blocks take their normal time to fill.
void FileioCapture::check_for_starvation(std::int64_t now)
{
    std::int64_t begin_ns = std::max(idle_ns_, returned_ns_[0]);
    if (begin_ns == started_ns_)
        begin_ns += 2 * (fill_ns() - fill_ns() / kRateExcess);
    if (!waited_ && dma_ && context_.queue_is_evidence() && begin_ns < returned_ns_[1])
        context_.overflow_detector.starved(begin_ns, returned_ns_[1], context_.tracker.position());
    waited_ = false;
    returned_ns_[0] = returned_ns_[1];
    returned_ns_[1] = now;
}

// Both kernel blocks can be full before a slow register has been read, so they are emptied
// meanwhile.
void FileioCapture::run_meanwhile(const std::function<void()>& task)
{
    sys::Event over;
    std::jthread running;
    try {
        running = std::jthread([&] {
            task();
            over.set();
        });
    } catch (const std::system_error&) {
        return task();
    }
    drop_until(over);
}

void FileioCapture::drop_until(const sys::Event& over)
{
    std::array<std::byte, kDropBytes> dropped;
    while (!over.is_set()) {
        while (!over.is_set() && read(dropped) > 0)
            ;
        pollfd fds[] = {{context_.file.fd(), POLLIN, 0}, {over.fd(), POLLIN, 0}};
        (void)::poll(fds, 2, -1);
    }
}

std::int64_t FileioCapture::fill_ns() const noexcept
{
    const auto block = static_cast<double>(kernel_block_ / context_.format.sample_bytes);
    const double rate = context_.format.sample_rate;
    return rate > 0 ? static_cast<std::int64_t>(std::min(1e9 * block / rate, 1e15)) : 0;
}

// If the buffer is enabled for fileio right after another program's DMABUFs were detached, it can
// stay in DMABUF mode, in which no data arrives. The reason is that a work queue in the kernel
// releases the DMABUFs later. The stream is therefore started once more.
bool FileioCapture::on_timeout()
{
    if (!context_.dir.is_enabled())
        fail_ended();
    if (restarted_ || context_.tracker.sequence() != 0)
        return true;
    restarted_ = true;
    context_.dir.disable();
    context_.overflow_detector.restart([this] { start(); });
    return false;
}

} // namespace

std::unique_ptr<Capture> make_fileio_capture(const CaptureContext& context)
{
    return std::make_unique<FileioCapture>(context);
}

} // namespace iio_stream::iio
