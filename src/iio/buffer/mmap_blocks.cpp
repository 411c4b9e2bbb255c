// SPDX-License-Identifier: MIT
#include "iio/buffer/mmap_blocks.hpp"

#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/fail.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/mman.h>

namespace iio_stream::iio {

namespace {

/// Reading cached memory takes about as long as reading ordinary memory. The factor for uncached
/// memory is an estimate; it has not been measured on a board.
constexpr std::int64_t kUncachedFactor = 8;
constexpr int kPasses = 8;
constexpr std::size_t kSmallestBlock = 4096;

std::int64_t fastest_pass_ns(std::span<const std::byte> page)
{
    const auto* const words = reinterpret_cast<const volatile std::uint64_t*>(page.data());
    std::int64_t fastest = INT64_MAX;
    for (int pass = 0; pass < kPasses; ++pass) {
        const std::int64_t begin = sys::monotonic_ns();
        for (std::size_t i = 0; i < page.size() / sizeof *words; ++i)
            (void)words[i];
        fastest = std::min(fastest, sys::monotonic_ns() - begin);
    }
    return std::max<std::int64_t>(fastest, 1);
}

} // namespace

bool is_uncached(std::span<const std::byte> page)
{
    alignas(64) std::array<std::byte, 4096> ordinary{};
    const auto part = page.first(std::min(page.size(), ordinary.size()));
    return fastest_pass_ns(part) >
           kUncachedFactor * fastest_pass_ns(std::span(ordinary).first(part.size()));
}

std::size_t MmapBlocks::allocate(std::size_t bytes, std::size_t count, std::string& why)
{
    release();
    int error = sys::iio_blocks_free(file_.fd());
    if (error != 0)
        sys::fail(error, "IIO_BLOCK_FREE_IOCTL", file_.path());
    const std::size_t wanted = std::min(count, sys::kMaxIioBlocks);
    const std::size_t asked = bytes;
    const std::size_t made = sys::iio_blocks_alloc(file_.fd(), bytes, wanted, error);
    if (error == EBUSY)
        throw Error(Fault::device, EBUSY, "allocate blocks of", file_.path(),
                    "the kernel keeps a block of an earlier read() or write()",
                    "on Analog Devices' kernels before May 2026 only a reload of the driver, or a "
                    "reboot, frees it");
    if (error != 0 && error != ENOMEM)
        sys::fail(error, "IIO_BLOCK_ALLOC_IOCTL", file_.path());
    if (made != 0 && bytes < asked) {
        (void)sys::iio_blocks_free(file_.fd());
        why = "the kernel makes blocks of at most " + format_size(bytes) +
              " (max_block_size of industrialio-buffer-dma)";
        return 0;
    }
    bytes_ = bytes;
    blocks_.resize(made);
    for (std::size_t i = 0; i < made; ++i)
        blocks_[i].kernel = sys::iio_block_query(file_.fd(), static_cast<std::uint32_t>(i));
    in_device_.reset(made);
    done_.reset(made);
    unfinished_ns_ = ended_ns_ = 0;
    started_ = false;
    if (made < wanted)
        why = "the kernel had memory for " + std::to_string(made) + " of " +
              std::to_string(wanted) + " blocks of " + format_size(bytes) +
              " (CMA sets the limit on most boards)";
    else if (made < count)
        why = "the kernel makes at most " + std::to_string(sys::kMaxIioBlocks) + " blocks";
    return made;
}

bool MmapBlocks::allocate_at_least(std::size_t fewest, std::size_t bytes, std::size_t count,
                                   std::size_t unit, std::string& why)
{
    const std::size_t wanted = bytes;
    while (allocate(bytes, count, why) < std::min(fewest, count)) {
        if (bytes / 2 < kSmallestBlock || bytes % (2 * unit) != 0) {
            release();
            return false;
        }
        bytes /= 2;
    }
    if (bytes != wanted)
        why = "the kernel's blocks have only " + format_size(bytes) +
              ", because there is no memory for larger ones";
    return true;
}

void MmapBlocks::map(std::size_t index, bool writable, std::byte* place)
{
    Block& block = blocks_[index];
    block.data =
        static_cast<std::byte*>(sys::map_iio_block(file_.fd(), block.kernel, writable, place));
    block.own = place == nullptr;
}

void MmapBlocks::release() noexcept
{
    for (const Block& block : blocks_)
        if (block.own && block.data != nullptr)
            ::munmap(block.data, block.kernel.bytes);
    if (!blocks_.empty())
        (void)sys::iio_blocks_free(file_.fd());
    blocks_.clear();
    in_device_.clear();
    done_.clear();
}

// Whether the device was without a block is known only after the ENQUEUE. If the previous block is
// still unfinished then, the device always had a block. Otherwise it may have had none since the
// previous block was last seen unfinished.
bool MmapBlocks::enqueue(std::size_t index, std::size_t bytes, bool cyclic)
{
    if (const int error =
            sys::iio_block_enqueue(file_.fd(), blocks_[index].kernel.id, bytes, cyclic);
        error != 0)
        sys::fail(error, "IIO_BLOCK_ENQUEUE_IOCTL",
                  "block " + std::to_string(index) + " of " + file_.path());
    const std::int64_t now = sys::monotonic_ns();
    if (started_)
        collect_all();
    const std::int64_t starved_ns = started_ && in_device_.empty() ? ended_ns_ : 0;
    if (in_device_.empty())
        unfinished_ns_ = now;
    in_device_.push({index, now, starved_ns});
    return starved_ns != 0;
}

// Performs one DEQUEUE. Returns false if the device has not finished another block.
bool MmapBlocks::collect()
{
    int error = 0;
    const auto block = sys::iio_block_dequeue(file_.fd(), error);
    const std::int64_t now = sys::monotonic_ns();
    if (error != 0)
        sys::fail(error, "IIO_BLOCK_DEQUEUE_IOCTL", file_.path());
    if (!block) {
        unfinished_ns_ = now;
        return false;
    }
    const Flight flight = in_device_.pop();
    // A transfer that the DMA driver refuses is not reported, and its block never comes back.
    if (block->id != blocks_[flight.index].kernel.id)
        throw Error(
            Fault::device, EIO, "DMA of",
            "block " + std::to_string(flight.index) + " of " + file_.path(),
            "the device has finished a later block and not this one: the DMA driver refused it",
            "try a smaller --block-size; see dmesg");
    ended_ns_ = std::max(unfinished_ns_, flight.enqueued_ns);
    done_.push({flight.index, block->used, now, ended_ns_, flight.starved_ns, flight.enqueued_ns});
    return true;
}

void MmapBlocks::collect_all()
{
    while (!in_device_.empty() && collect())
        ;
}

std::optional<MmapBlocks::Done> MmapBlocks::dequeue()
{
    if (done_.empty())
        collect_all();
    if (done_.empty())
        return std::nullopt;
    return done_.pop();
}

void MmapBlocks::drain() noexcept
{
    int error = 0;
    while (sys::iio_block_dequeue(file_.fd(), error))
        ;
    in_device_.clear();
    done_.clear();
}

} // namespace iio_stream::iio
