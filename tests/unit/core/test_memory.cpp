// SPDX-License-Identifier: MIT
#include "core/memory/memory_backend.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/memory.hpp"
#include "support/errors.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"

#include <algorithm>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

TEST(Memory, NamesAreParsedAndWrittenBack)
{
    for (const char* name : {"pages", "udmabuf"})
        EXPECT_EQ(Memory::parse("memory", name).name(), name);
    EXPECT_EQ(Memory::parse("memory", "pages"), Memory{});
    EXPECT_EQ(Memory::import({3, 4}).name(), "given");
    EXPECT_EQ(Memory::import({3, 4}).fds, (std::vector<int>{3, 4}));
}

TEST(Memory, AnyOtherWordIsAUsageErrorThatNamesTheOption)
{
    for (const char* text : {"", "page", "heap", "heap:", "given", "auto", "HEAP:system"})
        expect_usage_error([&] { Memory::parse("memory", text); }, "memory=", "pages or kernel");
}

TEST(Memory, TheLastChoiceIsPagesWhichAlwaysWork)
{
    const auto choices = memory_choices();
    ASSERT_GE(choices.size(), 3u);
    EXPECT_EQ(choices.front().memory.kind, MemoryKind::heap);
    EXPECT_EQ(choices.back().memory.kind, MemoryKind::pages);
    EXPECT_EQ(choices.back().unavailable, "");
}

TEST(Memory, TraitsOfMemoryAreKnownBeforeBlocksAreAllocated)
{
    const MemoryTraits pages = detail::traits_of(Memory{}, 8192);
    EXPECT_FALSE(pages.attachable);
    EXPECT_TRUE(pages.direct_io);
    EXPECT_EQ(pages.block_size, 8192u);
    EXPECT_EQ(pages.segments, std::nullopt);
    const MemoryTraits udmabuf = detail::traits_of(Memory::parse("memory", "udmabuf"), 8193);
    EXPECT_TRUE(udmabuf.attachable);
    EXPECT_TRUE(udmabuf.direct_io);
    EXPECT_EQ(udmabuf.segments, std::nullopt); // not known in advance: 3 on 6.12, fewer on 7.x
    Memory heap;
    heap.kind = MemoryKind::heap;
    EXPECT_TRUE(detail::traits_of(heap, 8192).attachable);
    EXPECT_FALSE(detail::traits_of(heap, 8192).direct_io);
}

TEST(Memory, PagesAreZeroedAndHaveNoDmabuf)
{
    BlockPool pool(Memory{}, 10'000, 3, CpuUse::none);
    EXPECT_EQ(pool.dmabuf(0), -1);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto bytes = pool.mapping(i);
        ASSERT_EQ(bytes.size(), 10'000u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096, 0u);
        EXPECT_TRUE(
            std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; }));
    }
}

TEST(Memory, MoreMemoryThanTheMachineHasIsRefusedWithoutAnAttempt)
{
    if (sizeof(std::size_t) < 8)
        GTEST_SKIP() << "the machine can have as much memory as can be addressed";
    const Error error = error_of([] {
        BlockPool(Memory{}, static_cast<std::size_t>(std::uint64_t{1} << 46), 8, CpuUse::mapped);
    });
    EXPECT_EQ(error.code().value(), ENOMEM);
    EXPECT_NE(std::string(error.what()).find("8 blocks of 64Ti"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("available"), std::string::npos) << error.what();
}

TEST(Memory, AMissingHeapIsNamedInTheError)
{
    Memory memory;
    memory.kind = MemoryKind::heap;
    memory.heap = "no-such-heap";
    const Error error = error_of([&] { BlockPool(memory, 4096, 2, CpuUse::mapped); });
    EXPECT_EQ(error.object(), "/dev/dma_heap/no-such-heap");
    EXPECT_EQ(error.code().value(), ENOENT);
}

TEST(Memory, EachBlockNeedsAGivenDmabufThatIsLargeEnough)
{
    const sys::UniqueFd file = sys::sealed_memfd(4096, 0); // enough like a DMABUF for this test
    expect_usage_error([&] { BlockPool(Memory::import({file.get()}), 4096, 2, CpuUse::none); },
                       "1 DMABUFs were given for 2 blocks");
    expect_usage_error([&] { BlockPool(Memory::import({file.get()}), 4097, 1, CpuUse::none); },
                       "4096 bytes", "4097");
    const Error error = error_of([] { BlockPool(Memory::import({-1}), 4096, 1, CpuUse::none); });
    EXPECT_EQ(error.code().value(), EBADF);
}

TEST(Memory, GivenDmabufsAreDuplicatedByThePool)
{
    sys::UniqueFd file = sys::sealed_memfd(4096, 0);
    const int number = file.get();
    const BlockPool pool(Memory::import({number}), 4096, 1, CpuUse::none);
    EXPECT_NE(pool.dmabuf(0), number);
    file.reset();
    EXPECT_GE(::fcntl(pool.dmabuf(0), F_GETFD), 0);
    EXPECT_TRUE(pool.mapping(0).empty()); // no mapping was requested
}

TEST(Memory, DmabufsStayOpenForADeviceThatStillHasThemAttached)
{
    const sys::UniqueFd file = sys::sealed_memfd(4096, 0);
    std::optional<BlockPool> pool(std::in_place, Memory::import({file.get()}), 4096, 1,
                                  CpuUse::none);
    const int dmabuf = pool->dmabuf(0);
    std::shared_ptr<const void> kept = pool->keep_dmabufs();
    pool.reset();
    EXPECT_GE(::fcntl(dmabuf, F_GETFD), 0);
    kept.reset();
    EXPECT_LT(::fcntl(dmabuf, F_GETFD), 0);
}

TEST(Memory, PoolsLeaveNoFilesOpenEvenIfTheyFail)
{
    const auto open_files = [] {
        int count = 0;
        for (int fd = 0; fd < 1000; ++fd)
            count += ::fcntl(fd, F_GETFD) >= 0;
        return count;
    };
    const int before = open_files();
    const sys::UniqueFd small = sys::sealed_memfd(4096, 0), large = sys::sealed_memfd(8192, 0);
    for (int i = 0; i < 5; ++i) {
        const BlockPool pages(Memory{}, 4096, 2, CpuUse::mapped);
        const BlockPool given(Memory::import({small.get(), large.get()}), 4096, 2, CpuUse::none);
        EXPECT_ANY_THROW(
            BlockPool(Memory::import({large.get(), small.get()}), 8192, 2, CpuUse::none));
        // DMA_BUF_IOCTL_SYNC does not accept a memfd as a DMABUF.
        EXPECT_ANY_THROW(BlockPool(Memory::import({large.get()}), 8192, 1, CpuUse::mapped));
    }
    EXPECT_EQ(open_files(), before + 2);
}

TEST(Memory, PlainPagesAreHugeIfTheKernelProvidesHugePages)
{
    const std::size_t huge = sys::transparent_huge_page_bytes();
    if (huge == 0 || huge > (64 << 20))
        GTEST_SKIP() << "the kernel has no transparent huge pages";
    const BlockPool pool(Memory{}, huge / 2, 4, CpuUse::mapped);
    for (std::size_t i = 0; i < 4; ++i)
        for (const std::size_t at : {std::size_t{0}, huge / 2 - 1})
            EXPECT_EQ(pool.mapping(i)[at], std::byte{0});
    if (pool.traits().page_bytes == 4096)
        GTEST_SKIP() << "the kernel has no huge page free at the moment";
    EXPECT_EQ(pool.traits().page_bytes, huge);
    if (sys::huge_page_bytes() == 0) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.mapping(0).data()) % huge, 0u);
    }
}

} // namespace
