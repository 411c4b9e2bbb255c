// SPDX-License-Identifier: MIT
#include "conformance/marked_blocks.hpp"

#include "conformance/streaming.hpp"
#include "core/base/align.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio/buffer/mmap_blocks.hpp"
#include "iio_stream/block.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <poll.h>

namespace iio_stream::conformance {

namespace {

constexpr std::size_t kBlocks = 8, kMostBytes = 256 * 1024;
constexpr double kBlockSeconds = 0.02;
constexpr std::int64_t kFillDeadlineNs = 2'000'000'000;
constexpr std::size_t kWord = sizeof(std::uint64_t);

// The mark of one word of one block. Data of a converter do not match it by chance.
std::uint64_t mark_of(std::size_t block, std::size_t word)
{
    std::uint64_t x = (std::uint64_t{block} << 40) + word + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    return x ^ (x >> 27);
}

void mark(std::size_t index, std::span<std::byte> bytes)
{
    for (std::size_t word = 0; word < bytes.size() / kWord; ++word) {
        const std::uint64_t value = mark_of(index, word);
        std::memcpy(bytes.data() + word * kWord, &value, kWord);
    }
}

void find_marks(std::size_t index, std::span<const std::byte> bytes, MarkedBlock& result)
{
    constexpr std::size_t kWordsPerPage = detail::kPage / kWord;
    std::size_t in_page = 0;
    for (std::size_t word = 0; word < bytes.size() / kWord; ++word) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + word * kWord, kWord);
        in_page = word % kWordsPerPage == 0 ? 0 : in_page;
        if (value == mark_of(index, word)) {
            result.untouched += kWord;
            if (++in_page == kWordsPerPage)
                ++result.untouched_pages;
        } else
            result.filled_to = (word + 1) * kWord;
    }
}

/// A buffer with all its channels enabled.
struct OpenBuffer {
    iio::BufferDir dir;
    iio::BufferFile file;
    Format format;
    std::size_t bytes;   ///< of a block
    std::string refused; ///< the reason why the buffer takes no blocks of this kind

    explicit OpenBuffer(const Subject& subject)
        : dir(subject.device.id(), subject.device.name(), subject.buffer.index),
          file(subject.device.id(), subject.buffer.index, iio::kInUseWaitNs),
          format(dir.choose("", iio::Iq::automatic)),
          bytes(block_bytes(subject, kBlockSeconds, kMostBytes))
    {
        dir.enable_channels(format);
    }
    OpenBuffer(const OpenBuffer&) = delete;
};

/// An OpenBuffer to which a pool is attached.
struct Attached : OpenBuffer {
    BlockPool pool;
    std::vector<EmptyBlock> blocks; ///< by index
    iio::DmabufQueue queue;

    Attached(const Subject& subject, const Memory& memory)
        : OpenBuffer(subject), pool(memory, bytes, kBlocks, CpuUse::mapped), queue(file.fd())
    {
        while (auto block = pool.take())
            blocks.push_back(std::move(*block));
        std::sort(blocks.begin(), blocks.end(),
                  [](const EmptyBlock& a, const EmptyBlock& b) { return a.index() < b.index(); });
        int error = 0;
        if (!queue.attach(dir, pool, error))
            refused = std::string("ATTACH: ") + std::strerror(error);
        else
            (void)dir.set_length(bytes / format.sample_bytes);
    }
    ~Attached()
    {
        dir.take_back();
        queue.detach();
    }
};

/// An OpenBuffer that maps the kernel's own blocks.
struct Mapped : OpenBuffer {
    iio::MmapBlocks blocks;

    explicit Mapped(const Subject& subject) : OpenBuffer(subject), blocks(file)
    {
        (void)dir.set_length(bytes / format.sample_bytes);
        std::string why;
        if (blocks.allocate(bytes, kBlocks, why) == 0)
            refused = "the kernel cannot make blocks: " + why;
        for (std::size_t i = 0; i < blocks.count(); ++i)
            blocks.map(i, true);
    }
    ~Mapped()
    {
        dir.disable();
        blocks.drain();
    }
    void enqueue_all()
    {
        for (std::size_t i = 0; i < blocks.count(); ++i)
            (void)blocks.enqueue(i, bytes);
    }
};

[[noreturn]] void fail_missing(const Subject& subject, std::size_t ended, std::size_t queued)
{
    throw Error(Fault::device, ETIMEDOUT, "wait for a block of", subject.name(),
                std::to_string(ended) + " of " + std::to_string(queued) +
                    " blocks arrived within 2 s");
}

} // namespace

MarkedBlocks fill_marked_blocks(const Subject& subject, const Memory& memory)
{
    MarkedBlocks result;
    Attached attached(subject, memory);
    result.refused = attached.refused;
    result.block_bytes = attached.bytes;
    if (!result.refused.empty())
        return result;
    for (const EmptyBlock& block : attached.blocks)
        mark(block.index(), CpuWrite(block).bytes());
    for (const EmptyBlock& block : attached.blocks)
        (void)attached.queue.enqueue(block.index(), attached.bytes);
    attached.dir.enable();
    std::vector<iio::Completion> ended;
    const std::int64_t deadline = sys::after(kFillDeadlineNs);
    while (attached.queue.pending() != 0) {
        if (!sys::wait_for(attached.queue.wait_fd(), POLLIN, deadline))
            fail_missing(subject, ended.size(), kBlocks);
        while (const auto completion = attached.queue.take())
            ended.push_back(*completion);
    }
    attached.dir.take_back();
    for (const iio::Completion& completion : ended) {
        MarkedBlock block{completion.state, completion.error, attached.bytes};
        if (completion.error == 0) {
            const CpuRead read(attached.blocks[completion.index]);
            find_marks(completion.index, read.bytes().first(attached.bytes), block);
        }
        result.blocks.push_back(block);
    }
    return result;
}

MarkedBlocks fill_marked_kernel_blocks(const Subject& subject)
{
    MarkedBlocks result;
    Mapped mapped(subject);
    result.refused = mapped.refused;
    result.block_bytes = mapped.bytes;
    if (!result.refused.empty())
        return result;
    for (std::size_t i = 0; i < mapped.blocks.count(); ++i)
        mark(i, mapped.blocks.bytes(i));
    mapped.enqueue_all();
    mapped.dir.enable();
    const std::int64_t deadline = sys::after(kFillDeadlineNs);
    while (mapped.blocks.pending() != 0) {
        if (!mapped.blocks.ready() && !sys::wait_for(mapped.file.fd(), POLLIN, deadline))
            fail_missing(subject, result.blocks.size(), mapped.blocks.count());
        while (const auto done = mapped.blocks.dequeue()) {
            MarkedBlock block{iio::Completion::State::complete, 0, done->bytes};
            find_marks(done->index, mapped.blocks.bytes(done->index), block);
            result.blocks.push_back(block);
        }
    }
    return result;
}

IdleQueue stop_idle_queue(const Subject& subject, const Memory& memory)
{
    IdleQueue result;
    Attached attached(subject, memory);
    result.refused = attached.refused;
    if (!result.refused.empty())
        return result;
    for (const EmptyBlock& block : attached.blocks)
        (void)attached.queue.enqueue(block.index(), attached.bytes);
    result.queued = attached.queue.pending();
    const std::int64_t begin = sys::monotonic_ns();
    const auto wait_ns = static_cast<std::int64_t>(IdleQueue::kIdleWait * 1e9);
    result.completed = sys::wait_for(attached.queue.wait_fd(), POLLIN, begin + wait_ns);
    result.waited = static_cast<double>(sys::monotonic_ns() - begin) / 1e9;
    attached.dir.take_back();
    const std::int64_t deadline = sys::after(kFillDeadlineNs);
    while (attached.queue.pending() != 0 &&
           sys::wait_for(attached.queue.wait_fd(), POLLIN, deadline))
        while (attached.queue.take())
            ++result.returned;
    return result;
}

IdleQueue stop_idle_kernel_queue(const Subject& subject)
{
    IdleQueue result;
    Mapped mapped(subject);
    result.refused = mapped.refused;
    if (!result.refused.empty())
        return result;
    mapped.enqueue_all();
    result.queued = mapped.blocks.count();
    const std::int64_t begin = sys::monotonic_ns();
    const auto wait_ns = static_cast<std::int64_t>(IdleQueue::kIdleWait * 1e9);
    result.completed =
        sys::wait_for(mapped.file.fd(), POLLIN, begin + wait_ns) && mapped.blocks.dequeue();
    result.waited = static_cast<double>(sys::monotonic_ns() - begin) / 1e9;
    mapped.dir.disable();
    mapped.blocks.drain();
    std::string why;
    result.returned = mapped.blocks.allocate(mapped.bytes, kBlocks, why);
    return result;
}

} // namespace iio_stream::conformance
