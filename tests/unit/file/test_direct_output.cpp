// SPDX-License-Identifier: MIT
// Short, empty and failed writes, with a queue that completes writes on command.
#include "file/io/direct_output.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/temp_dir.hpp"
#include "sys/event.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

constexpr std::size_t kSector = 512;
constexpr std::size_t kBlock = 4096;

struct Wanted {
    std::span<const std::byte> data;
    std::uint64_t offset;
    std::size_t tag;
};

/// Writes to memory, in the order and in the portions that the test chooses.
struct Platter {
    std::vector<std::byte> bytes;
    std::deque<Wanted> wanted;
    std::deque<sys::Completed> done;
    std::vector<std::size_t> allocations; ///< the tags of the allocation requests
    sys::Event news;
    std::uint64_t written = 0; ///< bytes; those written twice count twice
    std::size_t at_once = 0;   ///< bytes of each write that complete at once; 0 = none

    void take(std::size_t which, std::size_t limit = SIZE_MAX)
    {
        const Wanted one = remove(which);
        const std::size_t count = std::min(one.data.size(), limit);
        bytes.resize(std::max<std::size_t>(bytes.size(), one.offset + count));
        std::copy_n(one.data.begin(), count,
                    bytes.begin() + static_cast<std::ptrdiff_t>(one.offset));
        written += count;
        end(one.tag, static_cast<std::ptrdiff_t>(count));
    }
    void fail(std::size_t which, int error) { end(remove(which).tag, -error); }
    Wanted remove(std::size_t which)
    {
        const Wanted one = wanted[which];
        wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(which));
        return one;
    }
    void end(std::size_t tag, std::ptrdiff_t result)
    {
        done.push_back({tag, result});
        news.set();
    }
};

class PlatterQueue final : public sys::IoQueue {
public:
    explicit PlatterQueue(Platter& platter) : platter_(platter) {}
    bool may_block() const noexcept override { return false; }
    void write(std::span<const std::byte> data, std::uint64_t offset, std::size_t,
               std::size_t tag) override
    {
        EXPECT_EQ(offset % kSector, 0u);
        EXPECT_EQ(data.size() % kSector, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % kSector, 0u);
        EXPECT_FALSE(data.empty());
        platter_.wanted.push_back({data, offset, tag});
        if (platter_.at_once != 0)
            platter_.take(platter_.wanted.size() - 1, platter_.at_once);
    }
    void read(std::span<std::byte>, std::uint64_t, std::size_t, std::size_t) override {}
    void allocate(std::uint64_t, std::uint64_t, std::size_t tag) override
    {
        platter_.allocations.push_back(tag);
    }
    void sync(std::size_t) override {}
    std::optional<sys::Completed> take() override
    {
        if (platter_.done.empty()) {
            platter_.news.clear();
            return std::nullopt;
        }
        const sys::Completed one = platter_.done.front();
        platter_.done.pop_front();
        return one;
    }
    int fd() const noexcept override { return platter_.news.fd(); }

private:
    Platter& platter_;
};

struct ScriptedOutput : testing::Test {
    void open(std::size_t depth = 4, std::uint64_t ahead = 0)
    {
        output.reset();
        platter.bytes.clear();
        platter.wanted.clear();
        platter.done.clear();
        platter.written = platter.at_once = 0;
        position = 0;
        pool.emplace(Memory{}, kBlock, 8, CpuUse::mapped);
        fd = sys::UniqueFd{::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
        file::DirectSettings settings;
        settings.io = {kSector, kSector, ""};
        settings.depth = depth;
        settings.ahead = ahead;
        StreamInfo stream;
        stream.block_size = kBlock;
        stream.timeout_ns = 100'000'000;
        output = std::make_unique<file::DirectOutput>(file::OpenFile{fd.get(), path}, settings,
                                                      stream, *pool, -1,
                                                      std::make_unique<PlatterQueue>(platter));
        output->start();
    }
    /// Submits a block with the next bytes of the ramp.
    void submit(std::size_t bytes = kBlock)
    {
        ASSERT_TRUE(output->ready());
        EmptyBlock block = *pool->take();
        const auto all = ramp(0, (position + bytes) / 4);
        {
            const CpuWrite out{block};
            std::memcpy(out.bytes().data(), all.data() + position, bytes);
        }
        BlockInfo info;
        info.bytes = bytes;
        position += bytes;
        output->submit(std::move(block).fill(info));
    }
    /// Checks that the file holds everything that was submitted, with each byte in its place.
    void expect_whole()
    {
        EXPECT_EQ(output->valid(), position);
        ASSERT_GE(platter.bytes.size(), position);
        platter.bytes.resize(position);
        EXPECT_EQ(platter.bytes, ramp(0, position / 4));
    }

    const TempDir dir;
    const std::string path = dir / "a";
    Platter platter;
    std::optional<BlockPool> pool;
    sys::UniqueFd fd;
    std::unique_ptr<file::DirectOutput> output;
    std::size_t position = 0;
};

TEST_F(ScriptedOutput, WritesCompletedOutOfOrderBecomeValidInOrder)
{
    open();
    for (int i = 0; i < 4; ++i)
        submit();
    EXPECT_FALSE(output->ready());
    for (const std::size_t which : {3u, 1u, 1u}) {
        platter.take(which);
        output->service();
        EXPECT_EQ(output->valid(), 0u);
    }
    platter.take(0);
    output->service();
    EXPECT_TRUE(output->ready());
    expect_whole();
}

TEST_F(ScriptedOutput, AShortWriteResumesWhereItEnded)
{
    open();
    submit();
    submit();
    platter.take(0, 1024);
    output->service();
    EXPECT_EQ(output->valid(), 0u);
    ASSERT_EQ(platter.wanted.size(), 2u);
    EXPECT_EQ(platter.wanted.back().offset, 1024u);
    EXPECT_EQ(platter.wanted.back().data.size(), kBlock - 1024);
    platter.take(0); // the next block
    output->service();
    EXPECT_EQ(output->valid(), 0u);
    EXPECT_EQ(output->pending(), 2u);
    platter.take(0);
    output->service();
    EXPECT_EQ(output->pending(), 0u);
    EXPECT_EQ(platter.written, 2 * kBlock); // no byte was written twice
    expect_whole();
}

TEST_F(ScriptedOutput, AShortWriteThatEndsUnalignedResumesAtAnAlignedOffset)
{
    for (const std::size_t came : {1u, 511u, 513u, 1000u, 4095u}) {
        open();
        submit();
        platter.take(0, came);
        output->service();
        EXPECT_EQ(output->valid(), 0u);
        ASSERT_EQ(platter.wanted.size(), 1u) << came;
        EXPECT_EQ(platter.wanted[0].offset, came / kSector * kSector);
        EXPECT_EQ(platter.wanted[0].data.size(), kBlock - came / kSector * kSector);
        platter.take(0);
        output->service();
        expect_whole();
    }
}

TEST_F(ScriptedOutput, WritesInPortionsOfAnySizeComplete)
{
    for (const std::size_t portion : {512u, 700u, 1024u, 1536u, 2500u})
        for (const std::size_t tail : {4u, 508u, 512u, 516u, 4092u, 4096u}) {
            open();
            for (const std::size_t bytes : {kBlock, kBlock, tail})
                submit(bytes);
            for (int turns = 0; !platter.wanted.empty() && turns < 100; ++turns) {
                platter.take(platter.wanted.size() - 1, portion); // the latest write first
                output->service();
            }
            platter.at_once = portion; // for the tail, which finish() writes and waits for
            output->finish(Stop::drain);
            expect_whole();
        }
}

TEST_F(ScriptedOutput, AnInterruptedWriteIsRetried)
{
    for (const int error : {EINTR, EAGAIN}) {
        open();
        submit();
        platter.take(0, 1000);
        output->service();
        platter.fail(0, error);
        output->service();
        ASSERT_EQ(platter.wanted.size(), 1u);
        EXPECT_EQ(platter.wanted[0].offset, 512u);
        platter.take(0);
        output->service();
        expect_whole();
    }
}

TEST_F(ScriptedOutput, AWriteOfZeroBytesIsReportedAsAFullDisk)
{
    open();
    submit();
    submit();
    platter.take(0, 0);
    const Error error = error_of([&] { output->service(); });
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_EQ(error.object(), path);
    EXPECT_EQ(error.operation(), "write");
}

// The first portion can end within a sector. If the next one ends at the same place, there is no
// progress.
TEST_F(ScriptedOutput, AWriteThatMakesNoProgressIsReportedAsAFullDisk)
{
    open();
    submit();
    platter.take(0, 600);
    output->service();
    platter.take(0, 88); // ends at byte 600 again
    const Error error = error_of([&] { output->service(); });
    EXPECT_EQ(error.code().value(), ENOSPC);
    output->finish(Stop::abort);
    EXPECT_EQ(output->valid(), 600u);
}

TEST_F(ScriptedOutput, AfterAFailedWriteOnlyTheBytesBeforeTheFailureAreValid)
{
    open();
    for (int i = 0; i < 3; ++i)
        submit();
    platter.take(1); // the second block
    platter.take(0, 1000);
    output->service();
    platter.fail(1, EIO); // the rest of the first block
    EXPECT_EQ(error_of([&] { output->service(); }).code().value(), EIO);
    platter.take(0);
    output->finish(Stop::abort);
    EXPECT_EQ(output->valid(), 1000u);
    platter.bytes.resize(1000);
    EXPECT_EQ(platter.bytes, ramp(0, 250));
}

TEST_F(ScriptedOutput, AnInterruptedAllocationIsRetried)
{
    open(4, 3 * kBlock);
    submit();
    submit();
    ASSERT_EQ(platter.allocations.size(), 1u);
    platter.end(platter.allocations[0], -EINTR);
    output->service();
    EXPECT_EQ(platter.allocations.size(), 2u);
    EXPECT_EQ(output->remark(), "");
}

} // namespace
