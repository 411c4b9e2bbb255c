// SPDX-License-Identifier: MIT
// The order of reads, short reads and failed reads, with a queue that completes reads on command.
#include "file/io/direct_input.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"
#include "sys/event.hpp"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using file::Got;

constexpr std::size_t kAlign = 512;

struct Asked {
    std::span<std::byte> data;
    std::uint64_t offset;
    std::size_t tag;
};

/// Reads from memory, in the order that the test chooses.
struct Disk {
    std::vector<std::byte> bytes;
    std::deque<Asked> asked;
    std::deque<sys::Completed> done;
    sys::Event news;
    std::size_t most = 0; ///< the largest number of reads in flight at once

    void answer(std::size_t which, std::ptrdiff_t limit = PTRDIFF_MAX)
    {
        const Asked one = asked[which];
        asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(which));
        const std::size_t there = one.offset < bytes.size() ? bytes.size() - one.offset : 0;
        const std::size_t count =
            std::min({one.data.size(), there, static_cast<std::size_t>(limit)});
        if (count != 0)
            std::memcpy(one.data.data(), bytes.data() + one.offset, count);
        end(one.tag, static_cast<std::ptrdiff_t>(count));
    }
    void fail(std::size_t which, int error)
    {
        const std::size_t tag = asked[which].tag;
        asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(which));
        end(tag, -error);
    }
    void end(std::size_t tag, std::ptrdiff_t result)
    {
        done.push_back({tag, result});
        news.set();
    }
};

class DiskQueue final : public sys::IoQueue {
public:
    explicit DiskQueue(Disk& disk) : disk_(disk) {}
    bool may_block() const noexcept override { return false; }
    void write(std::span<const std::byte>, std::uint64_t, std::size_t, std::size_t) override {}
    void read(std::span<std::byte> data, std::uint64_t offset, std::size_t,
              std::size_t tag) override
    {
        EXPECT_EQ(offset % kAlign, 0u);
        EXPECT_EQ(data.size() % kAlign, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data.data()) % kAlign, 0u);
        disk_.asked.push_back({data, offset, tag});
        disk_.most = std::max(disk_.most, disk_.asked.size());
    }
    void allocate(std::uint64_t, std::uint64_t, std::size_t) override {}
    void sync(std::size_t) override {}
    std::optional<sys::Completed> take() override
    {
        if (disk_.done.empty()) {
            disk_.news.clear();
            return std::nullopt;
        }
        const sys::Completed one = disk_.done.front();
        disk_.done.pop_front();
        return one;
    }
    int fd() const noexcept override { return disk_.news.fd(); }

private:
    Disk& disk_;
};

struct DirectInput : testing::Test {
    /// Opens a file with `samples` samples of four bytes.
    void open(std::uint64_t samples, bool loop = false, bool staged = false,
              std::size_t block_size = 4096, std::size_t depth = 4,
              std::optional<std::vector<file::ByteRange>> ranges = {})
    {
        input.reset();
        disk.bytes = ramp(0, samples);
        write_file(path, disk.bytes);
        fd = sys::UniqueFd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        pool.emplace(Memory{}, block_size, 8, CpuUse::mapped);
        input = std::make_unique<file::DirectInput>(
            file::OpenInput{fd.get(), path, loop, std::move(ranges)},
            file::DirectReading{
                {kAlign, kAlign, ""}, file::IoEngine::io_uring, depth, disk.bytes.size(), staged},
            *pool, std::make_unique<DiskQueue>(disk));
    }
    void submit(std::size_t blocks = 8)
    {
        while (blocks-- > 0)
            if (auto block = pool->take())
                input->submit(std::move(*block), pool->block_size());
    }
    void keep(Got& got)
    {
        const CpuRead data{got.order->block};
        const auto some = data.bytes().first(got.order->bytes);
        read.insert(read.end(), some.begin(), some.end());
    }
    /// Reads until the end, or until at least `most` bytes have arrived.
    void read_all(std::size_t most = SIZE_MAX)
    {
        for (bool ended = false; !ended && read.size() < most;) {
            submit();
            if (!disk.asked.empty())
                disk.answer(disk.asked.size() - 1); // the latest read first
            Got got = input->take();
            ended = got.ended;
            if (got.order)
                keep(got);
            else if (disk.asked.empty() && disk.done.empty() && !ended)
                FAIL() << "no read is in flight";
        }
    }

    const TempDir dir;
    const std::string path = dir / "a";
    Disk disk;
    sys::UniqueFd fd;
    std::optional<BlockPool> pool;
    std::unique_ptr<file::DirectInput> input;
    std::vector<std::byte> read;
};

TEST_F(DirectInput, ReadingBeginsWithTheFirstBlockAndKeepsDepthReadsInFlight)
{
    open(100'000);
    submit(1);
    EXPECT_EQ(disk.asked.size(), 1u);
    submit(7);
    EXPECT_EQ(disk.asked.size(), 4u);
    EXPECT_EQ(input->pending(), 8u);
    disk.answer(0);
    EXPECT_TRUE(input->take().order);
    EXPECT_EQ(disk.asked.size(), 4u); // the next read takes its place
    while (!disk.asked.empty())
        disk.answer(0);
}

TEST_F(DirectInput, ReadsCompletedOutOfOrderAreDeliveredInOrder)
{
    open(4 * 1024);
    submit(4);
    for (const std::size_t which : {3u, 1u, 1u}) {
        disk.answer(which);
        EXPECT_FALSE(input->take().order);
        EXPECT_FALSE(input->wait().ready);
    }
    disk.answer(0);
    for (int i = 0; i < 4; ++i) {
        Got got = input->take();
        ASSERT_TRUE(got.order);
        EXPECT_EQ(got.ended, i == 3);
        keep(got);
    }
    EXPECT_EQ(read, disk.bytes);
    EXPECT_TRUE(input->take().ended);
}

TEST_F(DirectInput, FilesAndBlocksOfAnyLengthAreReadCompletely)
{
    for (const std::size_t block : {4096u, 512u, 520u, 1536u, 4u})
        for (const bool staged : {false, true})
            for (const std::uint64_t samples : {0u, 1u, 127u, 128u, 129u, 1024u, 1025u, 5000u}) {
                open(samples, false, staged, block);
                read.clear();
                read_all();
                EXPECT_EQ(read, disk.bytes) << block << " " << samples << " " << staged;
            }
}

TEST_F(DirectInput, ALoopHasNoSeam)
{
    for (const std::size_t block : {4096u, 520u})
        for (const std::uint64_t samples : {1u, 100u, 1024u, 1100u, 2048u, 5001u}) {
            open(samples, true, false, block, 3);
            read.clear();
            read_all(60'000);
            std::vector<std::byte> wanted;
            while (wanted.size() < read.size())
                wanted = std::move(wanted) + disk.bytes;
            wanted.resize(read.size());
            EXPECT_EQ(read, wanted) << block << " " << samples;
            while (!disk.asked.empty())
                disk.answer(0);
        }
}

TEST_F(DirectInput, OnlyTheSampleRangesAreRead)
{
    using Chunks = std::vector<file::ByteRange>;
    const std::vector<Chunks> cases{{{4, 1004}, {1008, 20'000}},
                                    {{0, 512}, {1024, 1536}, {1540, 1544}, {4096, 16'384}},
                                    {{512, 20'000}},
                                    {{4, 8}}};
    for (const Chunks& ranges : cases)
        for (const std::size_t block : {4096u, 512u, 520u})
            for (const bool staged : {false, true})
                for (const bool loop : {false, true}) {
                    open(5000, loop, staged, block, 4, ranges);
                    read.clear();
                    read_all(loop ? 60'000 : SIZE_MAX);
                    std::vector<std::byte> round, wanted;
                    for (const file::ByteRange& range : ranges)
                        round.insert(round.end(), disk.bytes.begin() + std::ptrdiff_t(range.begin),
                                     disk.bytes.begin() + std::ptrdiff_t(range.end));
                    while (wanted.size() < (loop ? read.size() : round.size()))
                        wanted.insert(wanted.end(), round.begin(), round.end());
                    if (loop)
                        wanted.resize(read.size());
                    EXPECT_EQ(read, wanted) << block << " " << staged << " " << loop;
                    while (!disk.asked.empty())
                        disk.answer(0);
                }
    open(5000, false, false, 4096, 4, Chunks());
    EXPECT_TRUE(input->take().ended);
}

TEST_F(DirectInput, AlignedBlocksAreReadInPlace)
{
    open(2048, true); // two blocks, read repeatedly
    submit();
    for (const Asked& one : disk.asked)
        EXPECT_EQ(one.data.size(), 4096u);
    read_all(60'000);
    EXPECT_EQ(disk.most, 4u);
    while (!disk.asked.empty())
        disk.answer(0);
}

TEST_F(DirectInput, AShortReadResumesAtAnAlignedOffset)
{
    open(4096);
    submit(4);
    disk.answer(0, 1000);
    EXPECT_FALSE(input->take().order);
    EXPECT_EQ(disk.asked.back().offset, 512u);
    EXPECT_EQ(disk.asked.back().data.size(), 4096u - 512);
    disk.fail(disk.asked.size() - 1, EINTR);
    EXPECT_FALSE(input->take().order);
    EXPECT_EQ(disk.asked.back().offset, 512u);
    read_all();
    EXPECT_EQ(read, disk.bytes);
}

TEST_F(DirectInput, DataReadBeforeAnErrorIsDeliveredFirst)
{
    open(4096);
    submit(4);
    disk.fail(2, EIO);
    EXPECT_FALSE(input->take().order);
    while (!disk.asked.empty())
        disk.answer(0);
    for (int i = 0; i < 2; ++i) {
        Got got = input->take();
        ASSERT_TRUE(got.order);
        keep(got);
    }
    EXPECT_EQ(read, ramp(0, 2048));
    const Error error = error_of([&] { (void)input->take(); });
    EXPECT_EQ(error.code().value(), EIO);
    EXPECT_EQ(error.operation(), "read");
    EXPECT_EQ(error.object(), path);
    EXPECT_NE(std::string(error.what()).find("byte 8192"), std::string::npos) << error.what();
}

TEST_F(DirectInput, AFileThatIsTruncatedDuringTheReadsIsAnError)
{
    for (const std::size_t left : {8192u, 8292u, 9000u}) {
        open(4096);
        submit(4);
        disk.bytes.resize(left);
        ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(left)), 0);
        for (int i = 0; i < 2; ++i) {
            disk.answer(0);
            EXPECT_TRUE(input->take().order);
        }
        const auto answer_all = [&] {
            for (int i = 0; i < 20; ++i) {
                while (!disk.asked.empty())
                    disk.answer(0);
                (void)input->take();
            }
        };
        const Error error = error_of(answer_all);
        EXPECT_EQ(error.code().value(), ENODATA);
        EXPECT_EQ(error.object(), path);
        const std::string text = error.what();
        EXPECT_NE(text.find("16384 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(left)), std::string::npos) << text;
    }
}

TEST_F(DirectInput, AStreamWithALimitReadsNoFurther)
{
    open(4096);
    input->submit(std::move(*pool->take()), 4096);
    input->submit(std::move(*pool->take()), 1000);
    disk.answer(1);
    disk.answer(0);
    EXPECT_EQ(input->take().order->bytes, 4096u);
    Got got = input->take();
    EXPECT_EQ(got.order->bytes, 1000u);
    EXPECT_FALSE(got.ended);
    const CpuRead data{got.order->block};
    EXPECT_EQ(std::memcmp(data.bytes().data(), disk.bytes.data() + 4096, 1000), 0);
}

} // namespace
