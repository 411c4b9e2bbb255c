// SPDX-License-Identifier: MIT
// Reads files with direct I/O, if the file system of the temporary directory supports it.
#include "support/direct_io.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"
#include "sys/disk/direct_io.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

class DirectReading : public DirectIoTest {
protected:
    struct Played {
        Summary summary;
        std::vector<std::byte> bytes;
    };
    Played play(const std::string& options, std::size_t block_size, std::uint64_t samples = 0) const
    {
        const SinkAt sink = fake_sink();
        PipelineConfig config =
            config_of("file:" + path() + "?engine=" + GetParam() + options, {sink.uri});
        config.block_size = block_size;
        config.samples = samples;
        Played played{run(config), {}};
        played.bytes = sink.log->bytes;
        if (played.summary.error)
            ADD_FAILURE() << played.summary.error->what();
        return played;
    }
    std::string path() const { return dir_ / "a.ci16"; }
};

TEST_P(DirectReading, BlocksAreReadInPlace)
{
    write_file(path(), ramp(0, 256 * 1024));
    const Played p = play("", 32768);
    EXPECT_EQ(p.bytes, ramp(0, 256 * 1024));
    EXPECT_EQ(p.summary.ended, "eof");
    EXPECT_EQ(p.summary.copies(), 0u);
    EXPECT_EQ(p.summary.route[0].mechanism, std::string(GetParam()) + "-direct");
    EXPECT_EQ(p.summary.route[0].reason, "");
}

TEST_P(DirectReading, AFileWithAnyTailIsReadCompletely)
{
    for (const std::uint64_t samples :
         {0u, 1u, 127u, 128u, 129u, 8191u, 8192u, 8193u, 24576u, 24577u, 70'001u}) {
        write_file(path(), ramp(0, samples));
        const Played p = play("", 32768);
        EXPECT_EQ(p.bytes, ramp(0, samples)) << samples;
        EXPECT_EQ(p.summary.ended, "eof") << samples;
    }
}

TEST_P(DirectReading, EveryDepthReadsTheSameSamples)
{
    write_file(path(), ramp(0, 70'001));
    for (const char* depth : {"&depth=1", "&depth=2", "&depth=256"})
        EXPECT_EQ(play(depth, 16384).bytes, ramp(0, 70'001)) << depth;
}

TEST_P(DirectReading, BlocksThatDirectIoCannotFillAreCopied)
{
    write_file(path(), ramp(0, 100'000));
    const Played p = play("", 4 * 777);
    EXPECT_EQ(p.bytes, ramp(0, 100'000));
    EXPECT_EQ(p.summary.route[0].copies, 1u);
    EXPECT_NE(p.summary.route[0].reason.find("not multiples"), std::string::npos);
}

TEST_P(DirectReading, ALoopHasNoSeam)
{
    for (const std::uint64_t samples : {100u, 8192u, 16384u, 20'000u, 24'577u}) {
        write_file(path(), ramp(0, samples));
        const Played p = play("&loop=on", 32768, 100'000);
        std::vector<std::byte> wanted;
        while (wanted.size() < 400'000)
            wanted = std::move(wanted) + ramp(0, samples);
        wanted.resize(400'000);
        EXPECT_EQ(p.bytes, wanted) << samples;
        const bool aligned = 4 * samples % sys::direct_io_at(path()).offset_align == 0;
        EXPECT_EQ(p.summary.route[0].copies, aligned ? 0u : 1u) << samples;
    }
}

TEST_P(DirectReading, AStreamWithALimitEndsAtItsLimit)
{
    write_file(path(), ramp(0, 100'000));
    const Played p = play("", 32768, 12'345);
    EXPECT_EQ(p.bytes, ramp(0, 12'345));
    EXPECT_EQ(p.summary.ended, "samples");
}

TEST_P(DirectReading, AReadOnlyFileIsReadTheSameWay)
{
    write_file(path(), ramp(0, 10'000));
    ASSERT_EQ(::chmod(path().c_str(), 0400), 0);
    const Played p = play("", 32768);
    EXPECT_EQ(p.bytes, ramp(0, 10'000));
    EXPECT_EQ(p.summary.route[0].copies, 0u);
}

TEST_P(DirectReading, ReadingCanBeStoppedAndStartedAgain)
{
    write_file(path(), ramp(0, 100'000));
    const SinkAt sink = fake_sink();
    Session session;
    session.add(config_of("file:" + path() + "?loop=on&engine=" + GetParam(), {sink.uri}));
    for (int i = 0; i < 3; ++i) {
        sink.log->bytes.clear();
        const std::uint64_t before = sink.log->samples;
        session.prepare();
        session.start();
        EXPECT_TRUE(eventually([&] { return sink.log->samples >= before + 1000; }));
        session.stop();
        const auto begin = ramp(0, 1000);
        ASSERT_GE(sink.log->bytes.size(), begin.size());
        EXPECT_TRUE(std::equal(begin.begin(), begin.end(), sink.log->bytes.begin()));
    }
}

INSTANTIATE_TEST_SUITE_P(Engines, DirectReading, testing::Values("io_uring", "libaio"));

TEST(BufferedReading, WithoutDirectIoTheReasonIsReported)
{
    const TempDir dir("/dev/shm");
    if (sys::direct_io_at(dir / "probe").possible())
        GTEST_SKIP() << "/dev/shm supports direct I/O";
    const std::string path = dir / "a.ci16";
    write_file(path, ramp(0, 10'000));
    const SinkAt sink = fake_sink();
    const std::string uri = "file:" + path + "?format=ci16_le";
    const Summary summary = run(config_of(uri, {sink.uri}));
    EXPECT_EQ(sink.log->bytes, ramp(0, 10'000));
    EXPECT_EQ(summary.route[0].mechanism, "buffered");
    EXPECT_NE(summary.route[0].reason.find("page cache: "), std::string::npos);
    for (const char* forced : {"direct=on", "engine=io_uring", "engine=libaio"}) {
        const Error error =
            error_of([&] { run(config_of(uri + "&" + forced, {fake_sink().uri})); });
        EXPECT_EQ(error.fault(), Fault::storage) << forced;
        EXPECT_EQ(error.operation(), "read directly from") << forced;
        EXPECT_EQ(error.object(), path);
        EXPECT_NE(error.hint().find("direct=auto reads"), std::string::npos) << error.what();
    }
}

TEST(BufferedReading, ForcedBufferedReadingReadsTheSame)
{
    const TempDir dir;
    write_file(dir / "a.ci16", ramp(0, 50'001));
    for (const char* forced : {"engine=buffered", "direct=off"}) {
        const SinkAt sink = fake_sink();
        const Summary summary =
            run(config_of("file:" + (dir / "a.ci16") + "?" + forced, {sink.uri}));
        EXPECT_EQ(sink.log->bytes, ramp(0, 50'001));
        EXPECT_EQ(summary.route[0].mechanism, "buffered");
        EXPECT_NE(summary.route[0].reason.find(forced), std::string::npos);
    }
    expect_usage_error(
        [&] {
            run(config_of("file:" + (dir / "a.ci16") + "?direct=on&engine=buffered", {"null:"}));
        },
        "exclude each other");
}

} // namespace
