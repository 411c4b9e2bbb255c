// SPDX-License-Identifier: MIT
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

struct Played {
    Summary summary;
    std::vector<std::byte> bytes;
};

Played play(const std::string& source, std::uint64_t samples = 0)
{
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of(source, {sink.uri});
    config.samples = samples;
    Played played{run(config), {}};
    played.bytes = sink.log->bytes;
    return played;
}

TEST(FileSource, AFileIsReadToItsEnd)
{
    const TempDir dir;
    for (const std::uint64_t samples : {1u, 1023u, 1024u, 1025u, 50'000u}) {
        write_file(dir / "a.ci16", ramp(0, samples));
        const Played p = play(dir / "a.ci16");
        EXPECT_EQ(p.summary.ended, "eof");
        EXPECT_EQ(p.bytes, ramp(0, samples));
        EXPECT_EQ(p.summary.stats.samples, samples);
    }
}

TEST(FileSource, AnEmptyFileIsAnEmptyStreamLoopedOrNot)
{
    const TempDir dir;
    write_file(dir / "a.ci16", {});
    EXPECT_EQ(play(dir / "a.ci16").summary.ended, "eof");
    const Played p = play("file:" + (dir / "a.ci16") + "?loop=on");
    EXPECT_EQ(p.summary.ended, "eof");
    EXPECT_TRUE(p.bytes.empty());
}

TEST(FileSource, ALoopedFileHasNoSeam)
{
    const TempDir dir;
    for (const std::uint64_t samples : {1u, 700u, 1024u, 3000u}) {
        write_file(dir / "a.ci16", ramp(0, samples));
        const Played p = play("file:" + (dir / "a.ci16") + "?loop=on", 10'000);
        EXPECT_EQ(p.summary.ended, "samples");
        std::vector<std::byte> wanted;
        while (wanted.size() < 40'000)
            wanted = std::move(wanted) + ramp(0, samples);
        wanted.resize(40'000);
        EXPECT_EQ(p.bytes, wanted);
    }
}

TEST(FileSource, AFileWithAPartialSampleIsRefusedUpFront)
{
    const TempDir dir;
    std::vector<std::byte> odd = ramp(0, 1000);
    odd.pop_back();
    write_file(dir / "a.ci16", odd);
    Session session;
    session.add(config_of(dir / "a.ci16", {"null:"}));
    const Error error = error_of([&] { session.prepare(); });
    EXPECT_EQ(error.fault(), Fault::storage);
    const std::string text = error.what();
    EXPECT_NE(text.find("3999 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("samples of 4 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("format="), std::string::npos) << text;
}

TEST(FileSource, TheFormatComesFromTheNameOrTheUser)
{
    const TempDir dir;
    write_file(dir / "a.cf32", ramp(0, 1000, 8));
    Session session;
    session.add(config_of(dir / "a.cf32", {"null:"}));
    write_file(dir / "b.bin", ramp(0, 1000, 8));
    session.add(config_of("file:" + (dir / "b.bin") + "?format=ri16_le&channel_names=x,y&rate=2M",
                          {"null:"}));
    expect_usage_error(
        [&] { session.add(config_of("file:" + (dir / "a.cf32") + "?format=ri16_le", {"null:"})); },
        "the name says cf32_le, but format= says ri16_le");
    EXPECT_EQ(session[0].format().name(), "cf32_le");
    EXPECT_EQ(session[1].format().name(), "ri16_le");
    EXPECT_EQ(session[1].format().channels[1].id, "y");
    EXPECT_EQ(session[1].format().sample_rate, 2e6);
    expect_usage_error([&] { session.add(config_of(dir / "a.bin", {"null:"})); }, "format=ci16_le");
    expect_usage_error([&] { session.add(config_of("file:", {"null:"})); }, "needs a path");
}

TEST(FileSource, AMissingFileIsAStorageError)
{
    Session session;
    session.add(config_of("/no/such/file.ci16", {"null:"}));
    const Error error = error_of([&] { session.prepare(); });
    EXPECT_EQ(error.fault(), Fault::storage);
    EXPECT_EQ(error.code().value(), ENOENT);
    const TempDir dir;
    const Summary summary = run(config_of("file:" + dir.path() + "?format=ci16_le", {"null:"}));
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(summary.error->code().value(), EISDIR);
}

TEST(FileSource, ADeviceIsReadUntilTheLimit)
{
    const Played p = play("file:/dev/zero?format=ci16_le", 100'000);
    EXPECT_EQ(p.summary.ended, "samples");
    EXPECT_EQ(p.bytes, zeros(100'000));
}

struct FifoSource : testing::Test {
    FifoSource() { EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0); }

    TempDir dir;
    std::string path = dir / "pipe";
    std::string uri = "file:" + path + "?format=ci16_le";
};

TEST_F(FifoSource, TheWriterCanComeLateAndWriteInPieces)
{
    std::thread writer([&] {
        std::this_thread::sleep_for(30ms);
        const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        std::this_thread::sleep_for(10ms);
        const std::vector<std::byte> all = ramp(0, 5000);
        for (std::size_t at = 0; at < all.size();) { // the pieces split samples
            const std::size_t piece = std::min<std::size_t>(at % 777 + 1, all.size() - at);
            EXPECT_EQ(::write(fd, &all[at], piece), static_cast<ssize_t>(piece));
            at += piece;
            if (at < 10'000)
                std::this_thread::sleep_for(1ms);
        }
        ::close(fd);
    });
    const Played p = play(uri);
    writer.join();
    EXPECT_EQ(p.summary.ended, "eof");
    EXPECT_EQ(p.bytes, ramp(0, 5000));
}

TEST_F(FifoSource, AnEndInTheMiddleOfASampleIsAnError)
{
    std::thread writer([&] {
        const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        EXPECT_EQ(::write(fd, "12345678901", 11), 11);
        ::close(fd);
    });
    const Summary summary = play(uri).summary;
    writer.join();
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_NE(std::string(summary.error->what()).find("middle of a sample"), std::string::npos);
}

TEST_F(FifoSource, AFifoCannotLoop)
{
    std::thread writer([&] {
        const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        EXPECT_EQ(::write(fd, "12345678", 8), 8);
        ::close(fd);
    });
    const Summary summary = play(uri + "&loop=on").summary;
    writer.join();
    EXPECT_EQ(summary.error->code().value(), ESPIPE);
    EXPECT_NE(std::string(summary.error->what()).find("a pipe cannot loop"), std::string::npos);
}

TEST_F(FifoSource, AWaitingSourceCanBeStopped)
{
    Session session;
    session.add(config_of(uri, {"null:"}));
    session.prepare();
    session.start();
    EXPECT_FALSE(session.wait(30ms));
    const auto start = std::chrono::steady_clock::now();
    session.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    EXPECT_EQ(session[0].summary().ended, "signal");
}

TEST(FileSource, StandardInputCanBeAFileAPipeOrASocket)
{
    const TempDir dir;
    write_file(dir / "a", ramp(0, 5000));
    {
        const Stdin in(dir / "a");
        EXPECT_EQ(play("file:-?format=ci16_le").bytes, ramp(0, 5000));
    }
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    {
        const Stdin in(fds[0]);
        std::thread writer([&] {
            const auto all = ramp(0, 5000);
            EXPECT_EQ(::write(fds[1], all.data(), all.size()), 20'000);
            ::close(fds[1]);
        });
        EXPECT_EQ(play("file:-?format=ci16_le").bytes, ramp(0, 5000));
        writer.join();
    }
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    {
        const Stdin in(fds[0]);
        const auto all = ramp(0, 5000);
        EXPECT_EQ(::write(fds[1], all.data(), all.size()), 20'000);
        ::close(fds[1]);
        EXPECT_EQ(play("file:-?format=ci16_le").bytes, ramp(0, 5000));
    }
}

TEST(FileSource, ABlockingStandardInputDoesNotDelayAStop)
{
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    const Stdin in(fds[0]);
    Session session;
    session.add(config_of("file:-?format=ci16_le", {"null:"}));
    session.prepare();
    session.start();
    EXPECT_FALSE(session.wait(30ms));
    std::thread rescue([&] { // prevents a hang if the test fails
        if (!eventually([&] { return session[0].ended(); }))
            ::shutdown(fds[1], SHUT_RDWR);
    });
    const auto start = std::chrono::steady_clock::now();
    session.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    rescue.join();
    ::close(fds[1]);
}

TEST(FileSource, AFileCanBeReadAgain)
{
    const TempDir dir;
    write_file(dir / "a.ci16", ramp(0, 5000));
    const SinkAt sink = fake_sink();
    Session session;
    session.add(config_of(dir / "a.ci16", {sink.uri}));
    for (int i = 0; i < 3; ++i) {
        sink.log->bytes.clear();
        run(session);
        EXPECT_EQ(sink.log->bytes, ramp(0, 5000));
    }
}

} // namespace
