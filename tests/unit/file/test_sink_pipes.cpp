// SPDX-License-Identifier: MIT
// The file: sink and pipes whose readers open them late, stop reading, or close them.
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(FileSink, AFifoIsWrittenToAndNotReplaced)
{
    const TempDir dir;
    const std::string path = dir / "pipe.bin";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::vector<std::byte> got;
    std::thread reader([&] { got = contents(path); });
    EXPECT_EQ(write_samples("file:" + path + "?overwrite=off", 100'000).ended, "eof");
    reader.join();
    EXPECT_EQ(got, ramp(0, 100'000));
}

TEST(FileSink, TheReaderOfAFifoIsAwaitedUntilTheDeadline)
{
    const TempDir dir;
    const std::string path = dir / "pipe.bin";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    PipelineConfig config = config_of(fake_source({.total = 1000}).uri, {"file:" + path});
    config.timeout = 50ms;
    Session alone;
    alone.add(config);
    const Error error = error_of([&] { alone.prepare(); });
    EXPECT_EQ(error.fault(), Fault::storage);
    EXPECT_EQ(error.code().value(), ENXIO);
    EXPECT_NE(std::string(error.what()).find("for reading"), std::string::npos);

    config.source = fake_source({.total = 1000}).uri;
    config.timeout = 10s;
    std::vector<std::byte> got;
    std::thread late([&] {
        std::this_thread::sleep_for(30ms);
        got = contents(path);
    });
    EXPECT_EQ(run(config).ended, "eof");
    late.join();
    EXPECT_EQ(got, ramp(0, 1000));
}

TEST(FileSink, AReaderThatGoesAwayIsAnErrorAndDoesNotKillTheProcess)
{
    ASSERT_NE(::signal(SIGPIPE, SIG_DFL), SIG_ERR); // the default action kills the process
    const TempDir dir;
    const std::string path = dir / "pipe.bin";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread reader([&] {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        char some[1000];
        EXPECT_GT(::read(fd, some, sizeof some), 0);
        ::close(fd);
    });
    const Summary summary = run(config_of(fake_source({}).uri, {"file:" + path}));
    reader.join();
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(summary.error->code().value(), EPIPE);
}

TEST(FileSink, AReaderThatDoesNotReadIsAbandonedAtTheDeadline)
{
    const TempDir dir;
    const std::string path = dir / "pipe.bin";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    PipelineConfig config = config_of(fake_source({}).uri, {"file:" + path});
    config.duration = 2s; // a slow machine needs some time to fill the pipe
    config.timeout = 50ms;
    const auto start = std::chrono::steady_clock::now();
    const Summary summary = run(config);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(summary.error->code().value(), ETIMEDOUT);
    for (const SinkStats& sink : summary.stats.sinks)
        EXPECT_EQ(sink.delivered_samples + sink.dropped_samples, summary.stats.samples);
    ::close(reader);
}

} // namespace
