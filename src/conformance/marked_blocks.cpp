// SPDX-License-Identifier: MIT
#include "conformance/marked_blocks.hpp"

#include "conformance/streaming.hpp"
#include "core/sizing.hpp"
#include "iio/buffer_dir.hpp"
#include "iio/buffer_file.hpp"
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

// Of one word of one block: no data of a converter repeats it by chance.
std::uint64_t mark_of(std::size_t block, std::size_t word)
{
    std::uint64_t x = (std::uint64_t{block} << 40) + word + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    return x ^ (x >> 27);
}

void mark(const EmptyBlock& block)
{
    const CpuWrite write(block);
    for (std::size_t word = 0; word < write.bytes().size() / kWord; ++word) {
        const std::uint64_t value = mark_of(block.index(), word);
        std::memcpy(write.bytes().data() + word * kWord, &value, kWord);
    }
}

void find_marks(const EmptyBlock& block, std::size_t bytes, MarkedBlock& result)
{
    const CpuRead read(block);
    constexpr std::size_t kWordsPerPage = detail::kPage / kWord;
    std::size_t in_page = 0;
    for (std::size_t word = 0; word < bytes / kWord; ++word) {
        std::uint64_t value = 0;
        std::memcpy(&value, read.bytes().data() + word * kWord, kWord);
        in_page = word % kWordsPerPage == 0 ? 0 : in_page;
        if (value == mark_of(block.index(), word)) {
            result.untouched += kWord;
            if (++in_page == kWordsPerPage)
                ++result.untouched_pages;
        } else
            result.filled_to = (word + 1) * kWord;
    }
}

/// A buffer with all its channels, and a pool attached to it.
struct Attached {
    iio::BufferDir dir;
    iio::BufferFile file;
    Format format;
    std::size_t bytes;
    BlockPool pool;
    std::vector<EmptyBlock> blocks; ///< by index
    iio::DmabufQueue queue;
    std::string refused;

    Attached(const Subject& subject, const Memory& memory)
        : dir(subject.device.id(), subject.device.name(), subject.buffer.index),
          file(subject.device.id(), subject.buffer.index, iio::kLookedAtNs),
          format(dir.choose("", iio::Iq::automatic)),
          bytes(block_bytes(subject, kBlockSeconds, kMostBytes)),
          pool(memory, bytes, kBlocks, CpuUse::mapped),
          queue(file.fd())
    {
        while (auto block = pool.take())
            blocks.push_back(std::move(*block));
        std::sort(blocks.begin(), blocks.end(),
                  [](const EmptyBlock& a, const EmptyBlock& b) { return a.index() < b.index(); });
        dir.enable_channels(format);
        int error = 0;
        if (!queue.attach(dir, pool, error))
            refused = std::string("ATTACH: ") + std::strerror(error);
        else
            (void)dir.set_length(bytes / format.sample_bytes);
    }
    Attached(const Attached&) = delete;
    ~Attached()
    {
        dir.take_back();
        queue.detach();
    }
};

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
        mark(block);
    for (const EmptyBlock& block : attached.blocks)
        (void)attached.queue.enqueue(block.index(), attached.bytes);
    attached.dir.enable();
    std::vector<iio::Completion> ended;
    const std::int64_t deadline = sys::after(kFillDeadlineNs);
    while (attached.queue.pending() != 0) {
        if (!sys::wait_for(attached.queue.wait_fd(), POLLIN, deadline))
            throw Error(Fault::device, ETIMEDOUT, "wait for a block of", subject.name(),
                        std::to_string(ended.size()) + " of " + std::to_string(kBlocks) +
                            " blocks came within 2 s");
        while (const auto completion = attached.queue.take())
            ended.push_back(*completion);
    }
    attached.dir.take_back();
    for (const iio::Completion& completion : ended) {
        MarkedBlock block{completion.state, completion.error};
        if (completion.error == 0)
            find_marks(attached.blocks[completion.index], attached.bytes, block);
        result.blocks.push_back(block);
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

} // namespace iio_stream::conformance
