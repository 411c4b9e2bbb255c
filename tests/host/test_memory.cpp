// SPDX-License-Identifier: MIT
// Pools of each kind of memory that this machine has. The other kinds are skipped, with the reason.
#include "core/format/checker.hpp"
#include "core/memory/storage.hpp"
#include "iio_stream/block.hpp"
#include "iio_stream/pipeline.hpp"
#include "support/fake.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/memory/dmabuf.hpp"
#include "sys/memory/mapping.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

/// One test for each kind of block memory.
class HostMemory : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        memory =
            GetParam() == std::string("heap:system") ? heap() : Memory::parse("memory", GetParam());
        for (const MemoryChoice& choice : memory_choices())
            if (choice.memory == memory && !choice.unavailable.empty())
                GTEST_SKIP() << choice.unavailable;
    }
    static Memory heap()
    {
        Memory memory;
        memory.kind = MemoryKind::heap;
        memory.heap = "system";
        return memory;
    }

    Memory memory;
};

TEST_P(HostMemory, NoTwoBlocksShareAByte)
{
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{4096}, std::size_t{100'000}}) {
        BlockPool pool(memory, bytes, 5, CpuUse::mapped);
        std::vector<EmptyBlock> blocks;
        while (auto block = pool.take())
            blocks.push_back(std::move(*block));
        ASSERT_EQ(blocks.size(), 5u);
        for (const EmptyBlock& block : blocks) {
            const CpuWrite out{block};
            ASSERT_EQ(out.bytes().size(), bytes);
            EXPECT_TRUE(std::all_of(out.bytes().begin(), out.bytes().end(),
                                    [](std::byte b) { return b == std::byte{}; }));
            std::fill(out.bytes().begin(), out.bytes().end(), std::byte(block.index() + 1));
        }
        for (const EmptyBlock& block : blocks) {
            const CpuRead data{block};
            EXPECT_TRUE(std::all_of(data.bytes().begin(), data.bytes().end(), [&](std::byte b) {
                return b == std::byte(block.index() + 1);
            }));
        }
    }
}

TEST_P(HostMemory, TheTraitsMatchTheMemory)
{
    const BlockPool pool(memory, 65536, 3, CpuUse::mapped);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(pool.dmabuf(i) >= 0, pool.traits().attachable);
        if (pool.dmabuf(i) >= 0) {
            EXPECT_GE(sys::dmabuf_size(pool.dmabuf(i)), 65536u);
            EXPECT_NE(::fcntl(pool.dmabuf(i), F_GETFD) & FD_CLOEXEC, 0);
        }
    }
    EXPECT_GE(pool.traits().page_bytes, 4096u);
}

TEST_P(HostMemory, ADmabufsMappingShowsTheContentsOfTheBlock)
{
    BlockPool pool(memory, 8192, 2, CpuUse::mapped);
    if (pool.dmabuf(0) < 0)
        GTEST_SKIP() << memory.name() << " has no DMABUFs";
    for (int i = 0; i < 2; ++i) {
        const EmptyBlock block = *pool.take();
        {
            const CpuWrite out{block};
            std::fill(out.bytes().begin(), out.bytes().end(), std::byte{0x5a});
        }
        const auto foreign =
            sys::Mapping::of_file(block.dmabuf(), 8192, 0, sys::Access::read_only, "DMABUF");
        const CpuRead sync{block};
        EXPECT_TRUE(std::all_of(foreign.data(), foreign.data() + 8192,
                                [](std::byte b) { return b == std::byte{0x5a}; }));
    }
}

TEST_P(HostMemory, NothingIsMappedIfTheCpuDoesNotTouchTheSamples)
{
    const BlockPool pool(memory, 8192, 2, CpuUse::none);
    EXPECT_EQ(pool.mapping(0).empty(), memory.kind != MemoryKind::pages);
}

TEST_P(HostMemory, AStreamThroughTheMemoryIsComplete)
{
    PipelineConfig config =
        config_of("sim:?rate=0&memory=" + memory.name(), {"verify:ramp", "null:"});
    config.block_size = 65536;
    config.samples = 3'000'001;
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "samples") << to_json(summary);
    EXPECT_EQ(summary.route[0].memory, memory.name());
}

TEST_P(HostMemory, DmabufsCanBeGivenToAnotherPool)
{
    BlockPool pool(memory, 65536, 2, CpuUse::mapped);
    if (pool.dmabuf(0) < 0)
        GTEST_SKIP() << memory.name() << " has no DMABUFs";
    BlockPool given(Memory::import({pool.dmabuf(0), pool.dmabuf(1)}), 65536, 2, CpuUse::mapped);
    const EmptyBlock block = *given.take();
    {
        const CpuWrite out{block};
        out.bytes()[65535] = std::byte{7};
    }
    EXPECT_EQ(pool.mapping(block.index())[65535], std::byte{7});
}

TEST_P(HostMemory, TheMemoryIsFreedWithItsLastHolder)
{
    const auto count = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    const auto before = count();
    for (int i = 0; i < 50; ++i) {
        std::optional<BlockPool> pool(std::in_place, memory, 65536, 8, CpuUse::mapped);
        EmptyBlock last = *pool->take();
        pool.reset();
        const CpuWrite out{last};
        out.bytes()[0] = std::byte{1};
    }
    EXPECT_EQ(count(), before);
}

INSTANTIATE_TEST_SUITE_P(, HostMemory, testing::Values("heap:system", "udmabuf", "pages"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             std::erase(name, ':');
                             return name;
                         });

TEST(HostHugePages, PagesAreHugeIfHugePagesAreReserved)
{
    const std::size_t huge = sys::huge_page_bytes();
    if (huge == 0)
        GTEST_SKIP() << "no free huge pages (/proc/sys/vm/nr_hugepages)";
    const BlockPool pool(Memory{}, 65536, 4, CpuUse::mapped);
    EXPECT_EQ(pool.traits().page_bytes, huge);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.mapping(0).data()) % huge, 0u);
}

TEST(HostHugePages, AHugePageMemfdIsRefusedOrSealed)
{
    const std::size_t huge = sys::huge_page_bytes();
    if (huge == 0)
        GTEST_SKIP() << "no free huge pages (/proc/sys/vm/nr_hugepages)";
    const sys::UniqueFd too_much = sys::sealed_memfd(huge << 20, huge);
    EXPECT_FALSE(too_much.valid()); // so there is no SIGBUS later
    const sys::UniqueFd one = sys::sealed_memfd(huge, huge);
    EXPECT_TRUE(one.valid());
}

TEST(HostMemfd, ASealedMemfdIsFullyAllocatedAndCannotShrink)
{
    const sys::UniqueFd memfd = sys::sealed_memfd(1 << 20, 0);
    struct stat status {};
    ASSERT_EQ(::fstat(memfd.get(), &status), 0);
    EXPECT_EQ(status.st_size, 1 << 20);
    EXPECT_GE(status.st_blocks * 512, 1 << 20);
    EXPECT_EQ(::ftruncate(memfd.get(), 4096), -1);
    EXPECT_EQ(errno, EPERM);
    EXPECT_NE(::fcntl(memfd.get(), F_GET_SEALS) & F_SEAL_SHRINK, 0);
    EXPECT_EQ(::fcntl(memfd.get(), F_GET_SEALS) & F_SEAL_WRITE, 0);
}

TEST(HostMachine, TheMachinesPropertiesAreReported)
{
    EXPECT_FALSE(sys::kernel_release().empty());
    EXPECT_GT(sys::udmabuf_limit_bytes(), 0u);
    const auto busy = sys::cpu_time();
    volatile unsigned work = 0;
    while (sys::cpu_time().user_seconds < busy.user_seconds + 0.02)
        for (int i = 0; i < 100'000; ++i)
            work = work + 1;
    EXPECT_GT(sys::cpu_time().user_seconds, busy.user_seconds);
}

} // namespace
