// SPDX-License-Identifier: MIT
#include "core/memory/fill_deadline.hpp"
#include "core/memory/fill_request.hpp"
#include "iio/buffer/mmap_blocks.hpp"
#include "iio/capture/capture.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <poll.h>
#include <utility>

namespace iio_stream::iio {

namespace {

/// Fewer kernel blocks than this are not delivered in place, because a single block that a reader
/// keeps would cause losses.
constexpr std::size_t kFewestInPlace = 4;
/// This many empty blocks in a row mean that the DMA driver refuses all blocks.
constexpr std::size_t kMostEmpty = 4;
/// The size of kernel blocks is not reduced below this.
constexpr std::size_t kLeastKernelBlock = 4096;
constexpr std::int64_t kDisablingNs = 100'000'000;
/// A marker at the start of a block, written before the device gets the block for the first time.
/// Some kernels report a block that is larger than the DMA's longest transfer as full although the
/// device has not written to it.
constexpr std::uint64_t kUnwritten = 0x7a1d'c35e'9b60'f284;

/// The common part of both ways of capturing into the kernel's own blocks: order, times, and
/// evidence of losses.
class MmapCapture : public Capture {
public:
    explicit MmapCapture(const CaptureContext& context) : Capture(context), queue_(context.file) {}

    void start() override;
    Taken take() override;
    Wait wait() override;
    bool on_timeout() override;
    void run_meanwhile(const std::function<void()>& task) override { task(); }

protected:
    void reset();
    /// The position in the stream after `count` more samples.
    std::uint64_t position_after(std::uint64_t count) const noexcept
    {
        return context_.tracker.position() + filled_ / context_.format.sample_bytes + count;
    }
    /// Notes that the device has finished a block, and returns the number of bytes of its whole
    /// samples. The stream gets all of them, even if it needs fewer, because an earlier block may
    /// have been shorter than planned. The engine cuts off the rest.
    std::size_t note_finished(const MmapBlocks::Done& done);
    /// Sets the number and the time of a block of the stream. Its last samples arrived with `done`.
    BlockInfo describe(std::span<const std::byte> samples, const MmapBlocks::Done& done);
    virtual std::optional<Block> deliver(const MmapBlocks::Done& done) = 0;
    /// Gives an empty block back to the device after it has been counted.
    virtual void give_back(const MmapBlocks::Done& done) = 0;
    virtual bool wants_more() const noexcept = 0;
    /// Returns the part of the stream's next block that has arrived, if it must be delivered now.
    virtual std::optional<Block> take_part() { return std::nullopt; }
    void give_to_device(std::size_t index)
    {
        context_.overflow_detector.before_enqueue();
        (void)queue_.enqueue(index, queue_.block_bytes());
    }
    /// Marks all blocks, so that the first transfer into each can be checked.
    void mark_blocks();

    MmapBlocks queue_;
    std::size_t filled_ = 0;        ///< bytes that the stream's next block has so far
    detail::FillDeadline deadline_; ///< deadline of that block, if the CPU fills it

private:
    [[noreturn]] void fail_device(const Error& error) const;
    Taken next();
    bool is_unwritten(std::size_t index);
    bool is_disabled_soon() const;
    void note_empty(const MmapBlocks::Done& done);

    std::size_t unchecked_ = 0;            ///< blocks whose first transfer has not been checked
    std::optional<MmapBlocks::Done> held_; ///< finished, but waiting for the overflow register
    bool checked_ = false;                 ///< held_ was checked
    std::size_t empty_in_a_row_ = 0;
    /// Samples that the last block lacks, because its transfer ended early.
    std::uint64_t missing_ = 0;
};

void MmapCapture::reset()
{
    held_.reset();
    checked_ = false;
    empty_in_a_row_ = filled_ = 0;
    deadline_.filled(0);
    missing_ = 0;
    stats_ = {};
}

void MmapCapture::start()
{
    queue_.started();
    context_.dir.enable();
}

Wait MmapCapture::wait()
{
    if (held_)
        return {context_.overflow_detector.fd(), POLLIN,
                context_.overflow_detector.wait_until_ns()};
    Wait wait{context_.file.fd(), POLLIN, deadline_.until_ns()};
    wait.ready = queue_.ready();
    return wants_more() ? wait : Wait{};
}

void MmapCapture::fail_device(const Error& error) const
{
    if (error.code().value() == ENODEV || error.code().value() == ESHUTDOWN)
        fail_ended();
    throw error;
}

// At the end of a stream, the samples that have arrived matter more than an error.
Taken MmapCapture::take()
{
    try {
        return next();
    } catch (const Error& error) {
        if (flushing_)
            if (auto part = take_part())
                return {std::move(part), false};
        fail_device(error);
    }
}

Taken MmapCapture::next()
{
    while (held_ || wants_more()) {
        if (!held_ && !(held_ = queue_.dequeue()))
            return {take_part(), false};
        if (!std::exchange(checked_, true) &&
            (held_->bytes < context_.format.sample_bytes || is_unwritten(held_->index))) {
            checked_ = false;
            note_empty(*std::exchange(held_, std::nullopt));
            continue;
        }
        if (const std::uint64_t missing = std::exchange(missing_, 0); missing != 0)
            context_.tracker.gap(
                {position_after(0), position_after(0), 0, missing, Evidence::dma_error});
        if (const std::int64_t since_ns = std::exchange(held_->starved_ns, 0);
            since_ns != 0 && context_.queue_is_evidence())
            context_.overflow_detector.starved(since_ns, held_->enqueued_ns, position_after(0));
        context_.overflow_detector.pauses_known_until(held_->earliest_ns);
        if (!context_.overflow_detector.report(context_.tracker, sys::monotonic_ns()))
            return {};
        checked_ = false;
        if (auto block = deliver(*std::exchange(held_, std::nullopt)))
            return {std::move(block), false};
    }
    return {};
}

void MmapCapture::mark_blocks()
{
    unchecked_ = queue_.count();
    for (std::size_t i = 0; i < queue_.count(); ++i)
        std::memcpy(queue_.bytes(i).data(), &kUnwritten,
                    std::min(sizeof kUnwritten, queue_.block_bytes()));
}

bool MmapCapture::is_unwritten(std::size_t index)
{
    if (unchecked_ == 0)
        return false;
    const std::size_t bytes = std::min(sizeof kUnwritten, queue_.block_bytes());
    if (std::memcmp(queue_.bytes(index).data(), &kUnwritten, bytes) == 0)
        return true;
    --unchecked_;
    return false;
}

// When the buffer is disabled, each block comes back empty a moment before sysfs shows that the
// buffer is off. A block whose transfer the DMA driver refuses also comes back empty.
bool MmapCapture::is_disabled_soon() const
{
    const std::int64_t deadline = sys::after(kDisablingNs);
    while (context_.dir.is_enabled()) {
        if (sys::monotonic_ns() >= deadline)
            return false;
        (void)sys::wait_for(-1, 0, sys::after(1'000'000));
    }
    return true;
}

void MmapCapture::note_empty(const MmapBlocks::Done& done)
{
    if (done.bytes == 0 && is_disabled_soon()) {
        stats_.cancelled_blocks += queue_.pending() + 1;
        fail_ended();
    }
    ++stats_.error_blocks;
    context_.tracker.failed();
    const std::uint64_t position = position_after(0);
    context_.tracker.gap({position, position, 0,
                          queue_.block_bytes() / context_.format.sample_bytes,
                          Evidence::dma_error});
    if (++empty_in_a_row_ >= kMostEmpty)
        throw Error(Fault::device, EIO, "DMA into", "blocks of " + context_.file.path(),
                    "they come back without samples: the DMA driver refuses them",
                    "try a smaller --block-size; see dmesg");
    give_back(done);
}

std::size_t MmapCapture::note_finished(const MmapBlocks::Done& done)
{
    empty_in_a_row_ = 0;
    const std::size_t sample = context_.format.sample_bytes;
    context_.overflow_detector.completed(position_after(done.bytes / sample), done.ns,
                                         done.earliest_ns, done.earliest_ns);
    if (done.bytes < queue_.block_bytes()) { // a short transfer: the rest may be lost
        ++stats_.error_blocks;
        missing_ = (queue_.block_bytes() - done.bytes) / sample;
    }
    return done.bytes / sample * sample;
}

BlockInfo MmapCapture::describe(std::span<const std::byte> samples, const MmapBlocks::Done& done)
{
    if (context_.counter != nullptr)
        context_.counter->report_gaps(samples, context_.tracker, done.ns);
    const std::size_t sample = context_.format.sample_bytes;
    const std::uint64_t in_flight = (queue_.pending() + 1) * (queue_.block_bytes() / sample);
    context_.tuning.completed(context_.tracker, {samples.size() / sample, done.ns,
                                                 done.ns - done.earliest_ns, in_flight});
    const Time time{Clock::monotonic, done.ns,
                    static_cast<std::uint64_t>(done.ns - done.earliest_ns)};
    return context_.tracker.next(samples.size(), time, BlockState::complete);
}

bool MmapCapture::on_timeout()
{
    if (!context_.dir.is_enabled())
        fail_ended();
    return true;
}

/// The kernel's blocks are the blocks of the pool, so a reader sees the memory that the DMA wrote.
class InPlaceCapture final : public MmapCapture {
public:
    using MmapCapture::MmapCapture;
    ~InPlaceCapture() override { stop(); }

    bool prepare(BlockPool& pool, std::string& why) override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override;
    std::size_t pending() const noexcept override { return blocks_.size(); }

private:
    std::optional<Block> deliver(const MmapBlocks::Done& done) override;
    void give_back(const MmapBlocks::Done& done) override;
    bool wants_more() const noexcept override { return !blocks_.empty(); }

    /// The blocks that the device has, and the one that waits for the register.
    detail::FillQueue blocks_;
    BlockPool* pool_ = nullptr;
};

bool InPlaceCapture::prepare(BlockPool& pool, std::string& why)
{
    (void)context_.dir.set_length(pool.block_size() / context_.format.sample_bytes);
    reset();
    if (queue_.allocate(pool.block_size(), pool.count(), why) <
        std::min(kFewestInPlace, pool.count())) {
        queue_.release();
        return false;
    }
    pool_ = &pool;
    pool.limit(queue_.count());
    for (std::size_t i = 0; i < queue_.count(); ++i)
        queue_.map(i, true, pool.mapping(i).data()); // writable for --on-gap zero-fill
    if (is_uncached(queue_.bytes(0))) {
        why = "the kernel maps its blocks uncached, so that each read goes to memory";
        stop();
        return false;
    }
    mark_blocks();
    blocks_.reset(queue_.count());
    return true;
}

// A user's lease can outlive the stream, and its mapping would keep the device open. The lease
// therefore gets a copy at the same address.
void InPlaceCapture::stop() noexcept
{
    if (pool_ == nullptr)
        return;
    context_.dir.disable();
    queue_.drain();
    blocks_.clear();
    (void)std::exchange(pool_, nullptr)->detach_kernel_memory();
    queue_.release();
}

void InPlaceCapture::submit(EmptyBlock block, std::size_t bytes)
{
    give_to_device(block.index());
    blocks_.push({std::move(block), bytes});
}

std::optional<Block> InPlaceCapture::deliver(const MmapBlocks::Done& done)
{
    detail::FillRequest flight = blocks_.pop();
    const std::size_t bytes = note_finished(done);
    const BlockInfo info = describe(queue_.bytes(done.index).first(bytes), done);
    return std::move(flight.block).fill(info);
}

void InPlaceCapture::give_back(const MmapBlocks::Done&)
{
    detail::FillRequest flight = blocks_.pop();
    submit(std::move(flight.block), flight.bytes);
}

/// Copies the kernel's blocks into the blocks of the pool, which a disk or another device can use.
/// Gives each kernel block back to the device immediately.
class CopyingCapture final : public MmapCapture {
public:
    using MmapCapture::MmapCapture;
    ~CopyingCapture() override { stop(); }

    bool prepare(BlockPool& pool, std::string& why) override;
    void start() override;
    void stop() noexcept override;
    void submit(EmptyBlock block, std::size_t bytes) override
    {
        blocks_.push({std::move(block), bytes});
    }
    std::size_t pending() const noexcept override { return blocks_.size(); }

private:
    std::optional<Block> deliver(const MmapBlocks::Done& done) override;
    void give_back(const MmapBlocks::Done& done) override { give_to_device(done.index); }
    bool wants_more() const noexcept override { return !blocks_.empty(); }
    std::optional<Block> take_part() override;
    Block hand_out(std::span<const std::byte> data);
    std::size_t block_in_time(std::size_t bytes, std::size_t unit) const;

    detail::FillQueue blocks_; ///< blocks to be filled
    MmapBlocks::Done last_;    ///< last kernel block in the front block
};

bool CopyingCapture::prepare(BlockPool& pool, std::string& why)
{
    const std::size_t sample = context_.format.sample_bytes;
    const std::size_t unit = std::lcm(sample, context_.dir.alignment());
    reset();
    deadline_.reset(context_.format, pool);
    const std::size_t bytes = block_in_time(pool.block_size(), std::lcm(unit, detail::kWidestBus));
    if (!queue_.allocate_at_least(kFewestInPlace, bytes, pool.count(), unit, why))
        return false;
    (void)context_.dir.set_length(queue_.block_bytes() / sample);
    for (std::size_t i = 0; i < queue_.count(); ++i)
        queue_.map(i, true);
    mark_blocks();
    blocks_.reset(pool.count());
    return true;
}

// Halves the block until its samples arrive in time (samples_in_time()).
std::size_t CopyingCapture::block_in_time(std::size_t bytes, std::size_t unit) const
{
    const double most = detail::samples_in_time(context_.format) *
                        static_cast<double>(context_.format.sample_bytes);
    while (static_cast<double>(bytes) > most && bytes % (2 * unit) == 0 &&
           bytes / 2 >= kLeastKernelBlock)
        bytes /= 2;
    return bytes;
}

void CopyingCapture::start()
{
    for (std::size_t i = 0; i < queue_.count(); ++i)
        give_to_device(i);
    MmapCapture::start();
}

void CopyingCapture::stop() noexcept
{
    if (queue_.count() == 0)
        return;
    context_.dir.disable();
    queue_.drain();
    blocks_.clear();
    queue_.release();
}

std::optional<Block> CopyingCapture::deliver(const MmapBlocks::Done& done)
{
    detail::FillRequest& flight = blocks_.front();
    const std::size_t bytes = note_finished(done);
    const CpuWrite out{flight.block};
    std::memcpy(out.bytes().data() + filled_, queue_.bytes(done.index).data(), bytes);
    filled_ += bytes;
    last_ = done;
    give_back(done);
    // After a short kernel block, the stream continues in a new block, so that each block begins
    // where a kernel block begins.
    if (filled_ < flight.bytes && done.bytes == queue_.block_bytes()) {
        deadline_.filled(filled_);
        return std::nullopt;
    }
    return hand_out(out.bytes());
}

std::optional<Block> CopyingCapture::take_part()
{
    if (filled_ == 0 || !(flushing_ || deadline_.due() != 0))
        return std::nullopt;
    return hand_out(CpuWrite{blocks_.front().block}.bytes());
}

// Delivers the front block with the samples that have arrived. `data` is the memory of the block.
Block CopyingCapture::hand_out(std::span<const std::byte> data)
{
    const std::size_t all = std::exchange(filled_, 0);
    deadline_.filled(0);
    detail::FillRequest order = blocks_.pop();
    const BlockInfo info = describe(data.first(all), last_);
    return std::move(order.block).fill(info);
}

} // namespace

std::unique_ptr<Capture> make_mmap_capture(const CaptureContext& context,
                                           const MemoryTraits& traits)
{
    if (traits.memory.kind == MemoryKind::kernel)
        return std::make_unique<InPlaceCapture>(context);
    return std::make_unique<CopyingCapture>(context);
}

} // namespace iio_stream::iio
