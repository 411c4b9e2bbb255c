// SPDX-License-Identifier: MIT
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/file_size_limit.hpp"
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

TEST(FileSink, SamplesAreWrittenUnchanged)
{
    const TempDir dir;
    const Summary summary = write_samples(dir / "a.ci16", 12'345);
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 12'345));
    EXPECT_EQ(summary.stats.sinks[0].bytes, 4u * 12'345);
}

TEST(FileSink, AnEmptyStreamCreatesAnEmptyFile)
{
    const TempDir dir;
    write_samples(dir / "a.ci16", 0);
    EXPECT_TRUE(contents(dir / "a.ci16").empty());
}

TEST(FileSink, AnExistingFileIsNotTouchedWithoutOverwrite)
{
    const TempDir dir;
    write_samples(dir / "a.ci16", 1000);
    const Error error = refused(dir / "a.ci16");
    EXPECT_EQ(error.fault(), Fault::storage);
    EXPECT_EQ(error.code().value(), EEXIST);
    EXPECT_NE(std::string(error.what()).find("overwrite=on"), std::string::npos);
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 1000));
    write_samples("file:" + (dir / "a.ci16") + "?overwrite=on", 10);
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 10));
}

TEST(FileSink, OverwritingAlsoRemovesTheJournal)
{
    for (const char* engine : {"buffered", "auto"}) {
        const TempDir dir;
        write_file(dir / "a.ci16.journal", zeros(10));
        write_samples("file:" + (dir / "a.ci16") + "?overwrite=on&engine=" + engine, 10);
        EXPECT_FALSE(std::filesystem::exists(dir / "a.ci16.journal")) << engine;
    }
}

TEST(FileSink, ADanglingSymbolicLinkDoesNotCreateAFile)
{
    const TempDir dir;
    ASSERT_EQ(::symlink("target", (dir / "link.ci16").c_str()), 0);
    EXPECT_EQ(refused(dir / "link.ci16").code().value(), EEXIST);
    EXPECT_FALSE(std::filesystem::exists(dir / "target"));
}

TEST(FileSink, ADirectoryIsReportedAsADirectory)
{
    const TempDir dir;
    ASSERT_EQ(::mkdir((dir / "d.ci16").c_str(), 0700), 0);
    for (const char* options : {"", "?overwrite=on"}) {
        const Error error = refused("file:" + (dir / "d.ci16") + options);
        EXPECT_EQ(error.code().value(), EISDIR) << error.what();
        EXPECT_EQ(error.fault(), Fault::storage);
    }
}

TEST(FileSink, AFileThatCannotBeOpenedIsANamedStorageError)
{
    const TempDir dir;
    const Error error = refused(dir / "no/such/a.ci16");
    EXPECT_EQ(error.fault(), Fault::storage);
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_EQ(error.object(), dir / "no/such/a.ci16");
}

TEST(FileSink, InvalidOptionsAreRefused)
{
    Session session;
    expect_usage_error([&] { session.add(config_of("sim:", {"file:"})); }, "file: needs a path");
    expect_usage_error([&] { session.add(config_of("sim:", {"file:a.ci16?sync=often"})); },
                       "sync=often");
    expect_usage_error([&] { session.add(config_of("sim:", {"file:a.ci16?overwrit=on"})); },
                       "did you mean 'overwrite'?");
}

TEST(FileSink, AFullDeviceIsAStorageError)
{
    const Summary summary = write_samples("file:/dev/full");
    EXPECT_EQ(summary.ended, "error");
    EXPECT_EQ(fault_of(summary), Fault::storage);
    EXPECT_EQ(summary.error->code().value(), ENOSPC);
    EXPECT_EQ(summary.error->operation(), "write");
    EXPECT_EQ(summary.error->object(), "/dev/full");
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 0u);
    EXPECT_EQ(summary.stats.sinks[0].dropped_samples, summary.stats.samples);
}

TEST(FileSink, AtItsSizeLimitAFileKeepsWholeSamplesAndTheProcessSurvives)
{
    for (const bool to_stdout : {false, true}) {
        const TempDir dir;
        const std::string path = dir / "a.ci16";
        Summary summary;
        {
            const FileSizeLimit limit(20'002); // half a sample fits at the end
            if (to_stdout) {
                const Stdout redirected(path, O_WRONLY | O_CREAT);
                summary = write_samples("-");
            } else {
                summary = write_samples("file:" + path + "?direct=off");
            }
        }
        EXPECT_EQ(fault_of(summary), Fault::storage);
        ASSERT_TRUE(summary.error);
        EXPECT_EQ(summary.error->code().value(), EFBIG) << summary.error->what();
        EXPECT_EQ(contents(path), ramp(0, 5000));
    }
}

TEST(FileSink, AfterAFailedWriteAForeignFileIsNotTruncated)
{
    const TempDir dir;
    const std::string path = dir / "theirs";
    write_file(path, zeros(10'000)); // 40 000 bytes; the stream overwrites the first half of them
    {
        const FileSizeLimit limit(20'002);
        const Stdout redirected(path, O_WRONLY);
        EXPECT_EQ(fault_of(write_samples("-")), Fault::storage);
    }
    EXPECT_EQ(contents(path).size(), 40'000u);
}

TEST(FileSink, StandardOutputIsAppendedToIfItIsOpenForAppending)
{
    const TempDir dir;
    const std::string path = dir / "all";
    write_file(path, ramp(0, 100));
    {
        const Stdout redirected(path, O_WRONLY | O_APPEND);
        EXPECT_EQ(write_samples("-", 50).ended, "eof");
    }
    EXPECT_EQ(contents(path), ramp(0, 100) + ramp(0, 50));
}

TEST(FileSink, InterruptingSignalsChangeNothing)
{
    const TempDir dir;
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {}; // without SA_RESTART
    ::sigaction(SIGALRM, &action, &before);
    const itimerval often{{0, 1000}, {0, 1000}}, never{};
    ASSERT_EQ(::mkfifo((dir / "pipe.bin").c_str(), 0600), 0);
    std::vector<std::byte> got;
    std::thread reader([&] {
        sigset_t alarms; // alarms are for the library: nothing here resumes an interrupted open()
        ::sigemptyset(&alarms);
        ::sigaddset(&alarms, SIGALRM);
        ::pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
        got = contents(dir / "pipe.bin");
    });
    ::setitimer(ITIMER_REAL, &often, nullptr);
    const Summary summary =
        run(config_of("sim:?rate=0&drop_at=700k&drop=0&unplug_at=1M",
                      {"file:" + (dir / "pipe.bin"), dir / "a.ci16", "verify:ramp"}));
    ::setitimer(ITIMER_REAL, &never, nullptr);
    reader.join();
    ::sigaction(SIGALRM, &before, nullptr);
    EXPECT_EQ(summary.error->code().value(), ENODEV) << summary.error->what();
    EXPECT_EQ(got, ramp(0, summary.stats.samples));
    EXPECT_EQ(contents(dir / "a.ci16"), got);
}

TEST(FileSink, SyncAtTheEndWorksOnFilesAndIgnoresPipes)
{
    const TempDir dir;
    EXPECT_EQ(write_samples("file:" + (dir / "a.ci16") + "?sync=end").ended, "eof");
    EXPECT_EQ(write_samples("file:/dev/null?sync=end").ended, "eof");
}

TEST(FileSink, ARetryAfterAnotherEndpointsRefusalKeepsTheFile)
{
    const TempDir dir;
    int tried = 0;
    const SinkAt moody =
        fake_sink({.prepare = [&](BlockPool&, std::string&) { return ++tried == 2; }});
    const Summary summary =
        run(config_of(fake_source({.total = 1000}).uri, {dir / "a.ci16", moody.uri}));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(contents(dir / "a.ci16"), ramp(0, 1000));
}

TEST(FileSink, NoFileStaysOpenAfterAStream)
{
    const TempDir dir;
    const auto open_files = [] {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    };
    write_samples(dir / "warm.ci16");
    const auto before = open_files();
    write_samples(dir / "a.ci16");
    (void)refused(dir / "a.ci16");
    write_samples("file:/dev/full");
    EXPECT_TRUE(eventually([&] { return open_files() == before; }));
}

} // namespace
