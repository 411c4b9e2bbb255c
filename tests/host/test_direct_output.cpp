// SPDX-License-Identifier: MIT
// Writes files with direct I/O, if the file system of the temporary directory supports it.
#include "file/journal/journal.hpp"
#include "support/direct_io.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/file_size_limit.hpp"
#include "support/files.hpp"
#include "support/pattern_stream.hpp"
#include "support/temp_dir.hpp"
#include "sys/disk/direct_io.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

class DirectOutput : public DirectIoTest {
protected:
    std::string path() const { return dir_ / "a.ci16"; }
    std::string sink(const std::string& options = "") const
    {
        return "file:" + path() + "?engine=" + GetParam() + options;
    }
    PipelineConfig config(std::uint64_t samples, std::size_t block_size,
                          const std::string& options = "") const
    {
        PipelineConfig config = config_of("sim:?rate=0&pattern=ramp", {sink(options)});
        config.samples = samples;
        config.block_size = block_size;
        config.blocks = 8;
        return config;
    }
    void expect_whole(const Summary& summary, std::uint64_t samples) const
    {
        EXPECT_FALSE(summary.error) << summary.error->what();
        EXPECT_EQ(summary.stats.sinks[0].delivered_samples, samples);
        EXPECT_EQ(contents(path()), ramp(0, samples));
        EXPECT_FALSE(std::filesystem::exists(file::journal_path(path())));
    }
};

TEST_P(DirectOutput, WholeBlocksAreWrittenWithoutACopy)
{
    const std::uint64_t samples = 64 * 1024;
    const Summary summary = run(config(samples, 32768));
    expect_whole(summary, samples);
    EXPECT_EQ(summary.copies(), 0u);
    EXPECT_EQ(summary.route[1].mechanism, std::string(GetParam()) + "-direct");
}

TEST_P(DirectOutput, AFileWithAnyTailIsWrittenCompletely)
{
    for (const std::uint64_t samples :
         {1u, 127u, 128u, 129u, 8191u, 8192u, 8193u, 24576u, 24577u}) {
        expect_whole(run(config(samples, 32768, "&overwrite=on")), samples);
        if (HasFailure())
            FAIL() << samples;
    }
}

// Otherwise a file system cannot be unmounted right after a recording.
TEST_P(DirectOutput, TheFileIsClosedWhenTheStreamHasEnded)
{
    (void)run(config(10'000, 32768));
    const sys::UniqueFd file = sys::open_file(path(), O_RDWR);
    // fcntl(2): a write lease is granted only if nobody else has the file open.
    EXPECT_EQ(::fcntl(file.get(), F_SETLEASE, F_WRLCK), 0) << std::strerror(errno);
}

TEST_P(DirectOutput, BlocksThatDirectIoCannotWriteAreCopied)
{
    const Summary summary = run(config(100'000, 4 * 777));
    expect_whole(summary, 100'000);
    EXPECT_EQ(summary.copies(), 1u);
    EXPECT_NE(summary.route[1].reason.find("not multiples"), std::string::npos);
}

TEST_P(DirectOutput, AFilledGapShiftsLaterSamplesAndLosesNothing)
{
    PipelineConfig with_gap = config(200'000, 32768);
    with_gap.source = "sim:?rate=0&pattern=ramp&drop_at=50001";
    with_gap.on_gap = OnGap::zero_fill;
    const Summary summary = run(with_gap);
    EXPECT_FALSE(summary.error);
    const auto data = contents(path());
    ASSERT_EQ(data.size(), 4 * 200'000u);
    const auto whole = ramp(0, 200'000);
    const std::uint64_t lost = summary.stats.gaps.lost_max;
    ASSERT_GT(lost, 0u);
    EXPECT_TRUE(std::equal(data.begin(), data.begin() + 4 * 50'001, whole.begin()));
    EXPECT_TRUE(std::all_of(data.begin() + 4 * 50'001,
                            data.begin() + static_cast<std::ptrdiff_t>(4 * (50'001 + lost)),
                            [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_TRUE(std::equal(data.begin() + static_cast<std::ptrdiff_t>(4 * (50'001 + lost)),
                           data.end(),
                           whole.begin() + static_cast<std::ptrdiff_t>(4 * (50'001 + lost))));
}

TEST_P(DirectOutput, PiecesOfALastBlockDoNotWaitForRoomThatNeverComes)
{
    PipelineConfig with_gap = config(20'000, 1 << 20);
    with_gap.source = "sim:?rate=0&pattern=ramp&drop_at=5000";
    with_gap.on_gap = OnGap::zero_fill;
    const Summary summary = run(with_gap);
    EXPECT_FALSE(summary.error);
    EXPECT_EQ(contents(path()).size(), 4 * 20'000u);
}

TEST_P(DirectOutput, WithoutPreallocationTheFileIsTheSame)
{
    expect_whole(run(config(70'001, 16384, "&preallocate=off&depth=1")), 70'001);
    expect_whole(run(config(70'001, 16384, "&preallocate=16Ki&overwrite=on&depth=3&sync=64Ki")),
                 70'001);
}

TEST_P(DirectOutput, AtTheFileSizeLimitWholeSamplesAreKept)
{
    const Summary summary = [&] {
        const FileSizeLimit limit(300'002);
        return run(config(1'000'000, 32768));
    }();
    ASSERT_TRUE(summary.error);
    EXPECT_EQ(summary.error->code().value(), EFBIG);
    EXPECT_EQ(summary.error->fault(), Fault::storage);
    const auto data = contents(path());
    EXPECT_EQ(data.size() % 4, 0u);
    EXPECT_GE(data.size(), 262'144u);
    EXPECT_EQ(data, ramp(0, data.size() / 4));
    EXPECT_FALSE(std::filesystem::exists(file::journal_path(path())));
}

TEST_P(DirectOutput, AStreamThatDoesNotFitIsRefusedUpFront)
{
    Session session;
    session.add(config(std::uint64_t{1} << 58, 1 << 20));
    const Error error = error_of([&] { session.prepare(); });
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_EQ(error.fault(), Fault::storage);
    session.stop(Stop::abort);
}

TEST_P(DirectOutput, AFailedStartLeavesNoFile)
{
    {
        Session session;
        session.add(config(std::uint64_t{1} << 58, 1 << 20));
        (void)error_of([&] { session.prepare(); });
    }
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_FALSE(std::filesystem::exists(file::journal_path(path())));
}

TEST_P(DirectOutput, TwoFilesShareTheirBlocks)
{
    PipelineConfig both = config(300'000, 65536);
    both.sinks.push_back("file:" + (dir_ / "b.ci16") + "?engine=" + GetParam());
    both.sinks.push_back("verify:ramp");
    const Summary summary = run(both);
    expect_whole(summary, 300'000);
    EXPECT_EQ(contents(dir_ / "b.ci16"), contents(path()));
}

INSTANTIATE_TEST_SUITE_P(Engines, DirectOutput, testing::Values("io_uring", "libaio"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST(DirectIo, AFileSystemThatOnlyClaimsDirectIoIsNotTrusted)
{
    const TempDir dir("/dev/shm");
    const sys::DirectIo io = sys::direct_io_at(dir / "a.ci16");
    EXPECT_FALSE(io.possible());
    const Summary summary = [&] {
        PipelineConfig config = config_of("sim:?rate=0", {dir / "a.ci16"});
        config.samples = 1000;
        return run(config);
    }();
    EXPECT_EQ(summary.route[1].mechanism, "buffered");
    EXPECT_NE(summary.route[1].reason.find(io.refusal), std::string::npos);
    PipelineConfig forced = config_of("sim:?rate=0", {"file:" + (dir / "b.ci16") + "?direct=on"});
    Session session;
    const Error error = error_of([&] {
        session.add(forced);
        session.prepare();
    });
    EXPECT_EQ(error.fault(), Fault::storage);
}

} // namespace
