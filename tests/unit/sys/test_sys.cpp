// SPDX-License-Identifier: MIT
#include "support/errors.hpp"
#include "support/readable.hpp"
#include "support/temp_dir.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"
#include "sys/machine.hpp"
#include "sys/memory/mapping.hpp"
#include "sys/stream_file.hpp"
#include "sys/unique_fd.hpp"

#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using sys::UniqueFd;

bool is_open(int fd)
{
    return ::fcntl(fd, F_GETFD) >= 0;
}

UniqueFd some_file()
{
    return UniqueFd{::open("/dev/null", O_RDWR | O_CLOEXEC)};
}

TEST(UniqueFd, OnlyTheOwnedDescriptorIsClosedAndOnlyOnce)
{
    UniqueFd a = some_file();
    const int first = a.get();
    UniqueFd b = std::move(a);
    EXPECT_FALSE(a.valid()); // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(is_open(first));
    UniqueFd c = some_file();
    const int second = c.get();
    c = std::move(b);
    EXPECT_FALSE(is_open(second));
    EXPECT_TRUE(is_open(first));
    auto& same = c;
    c = std::move(same);
    EXPECT_TRUE(is_open(first));
    const int released = c.release();
    EXPECT_FALSE(c.valid());
    EXPECT_TRUE(is_open(released));
    {
        const UniqueFd owner{released};
    }
    EXPECT_FALSE(is_open(released));
}

TEST(Event, AnEventIsSetUntilItIsCleared)
{
    sys::Event event;
    EXPECT_FALSE(event.is_set());
    event.set();
    event.set();
    EXPECT_TRUE(event.is_set());
    EXPECT_TRUE(event.is_set());
    event.clear();
    EXPECT_FALSE(event.is_set());
    event.clear(); // a second clear() does not block
}

TEST(Timer, ATimerFiresAtItsTimeAndAtOnceForAPastTime)
{
    sys::Timer timer;
    EXPECT_FALSE(readable(timer.fd()));
    const std::int64_t when = sys::monotonic_ns() + 20'000'000;
    timer.set(when);
    EXPECT_FALSE(readable(timer.fd()));
    EXPECT_TRUE(sys::wait_for(timer.fd(), POLLIN, when + 1'000'000'000));
    EXPECT_GE(sys::monotonic_ns(), when);
    timer.set(when); // set again: not yet marked as expired, but its time has passed
    EXPECT_TRUE(readable(timer.fd()));
    timer.clear();
    EXPECT_FALSE(readable(timer.fd()));
    for (const std::int64_t past : {std::int64_t{0}, std::int64_t{-5}, INT64_MIN}) {
        timer.set(past);
        EXPECT_TRUE(readable(timer.fd())) << past;
    }
    timer.set(INT64_MAX);
    EXPECT_FALSE(readable(timer.fd()));
}

TEST(WaitFor, TheWaitEndsAtItsDeadlineAndNotBefore)
{
    sys::Event event;
    const std::int64_t start = sys::monotonic_ns();
    EXPECT_FALSE(sys::wait_for(event.fd(), POLLIN, start + 30'000'000));
    EXPECT_GE(sys::monotonic_ns(), start + 30'000'000);
    EXPECT_LT(sys::monotonic_ns(), start + 10'000'000'000);
    EXPECT_FALSE(sys::wait_for(event.fd(), POLLIN, 0)); // long ago
    event.set();
    EXPECT_TRUE(sys::wait_for(event.fd(), POLLIN, 0));
    EXPECT_TRUE(sys::wait_for(event.fd(), POLLIN, INT64_MAX));
}

TEST(WaitFor, SignalsDoNotShortenTheWait)
{
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &action, &before);
    sys::Event event;
    const std::int64_t end = sys::monotonic_ns() + 60'000'000;
    const pthread_t waiter = ::pthread_self();
    std::thread nuisance([&] {
        while (sys::monotonic_ns() < end - 10'000'000) {
            ::pthread_kill(waiter, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    });
    EXPECT_FALSE(sys::wait_for(event.fd(), POLLIN, end));
    EXPECT_GE(sys::monotonic_ns(), end);
    nuisance.join();
    ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(After, ATimeFromNowIsNeverBeyondTheClocksRange)
{
    const std::int64_t now = sys::monotonic_ns();
    EXPECT_GE(sys::after(1000), now + 1000);
    EXPECT_LT(sys::after(1000), now + 10'000'000'000);
    EXPECT_EQ(sys::after(INT64_MAX), INT64_MAX);
    EXPECT_LE(sys::after(-1'000'000), sys::monotonic_ns());
}

TEST(Files, SmallFilesAreReadAndWrittenCompletely)
{
    const TempDir dir;
    const std::string path = dir / "x";
    EXPECT_EQ(sys::read_text(path), std::nullopt);
    EXPECT_EQ(sys::read_text(dir / "x/y"), std::nullopt);
    EXPECT_FALSE(sys::path_exists(path));
    sys::open_file(path, O_WRONLY | O_CREAT, 0600);
    EXPECT_EQ(sys::read_text(path), "");
    sys::write_text(path, "a\nb\n\n");
    EXPECT_EQ(sys::read_text(path), "a\nb");
    EXPECT_EQ(sys::read_sysfs(path), "a\nb");
    EXPECT_EQ(sys::read_sysfs(dir / "none"), std::nullopt);
    const std::string large(100'000, 'z');
    sys::write_text(path, large);
    EXPECT_EQ(sys::read_text(path), large);
    EXPECT_EQ(sys::read_sysfs(path), large);
    EXPECT_EQ(sys::list_directory(dir.path()), (std::vector<std::string>{"x"}));
    EXPECT_TRUE(sys::list_directory(dir / "none").empty());
}

TEST(Files, FailuresNameOperationAndPath)
{
    const TempDir dir;
    const Error open = error_of([&] { sys::open_file(dir / "none", O_RDONLY); });
    EXPECT_EQ(open.operation(), "open");
    EXPECT_EQ(open.object(), dir / "none");
    EXPECT_EQ(open.code().value(), ENOENT);
    EXPECT_EQ(error_of([&] { sys::read_text(dir.path()); }).code().value(), EISDIR);
    EXPECT_EQ(error_of([&] { sys::write_text("/dev/full", "x"); }).code().value(), ENOSPC);
}

TEST(Files, TheHolderOfAnOpenFileIsFound)
{
    const TempDir dir;
    const UniqueFd file = sys::open_file(dir / "held", O_WRONLY | O_CREAT, 0600);
    const auto holders = sys::holders_of(dir / "held");
    ASSERT_EQ(holders.size(), 1u);
    EXPECT_EQ(holders[0].substr(0, holders[0].find(' ')), std::to_string(::getpid()));
    EXPECT_TRUE(sys::holders_of(dir / "other").empty());
}

struct Pipe {
    Pipe()
    {
        int fds[2];
        EXPECT_EQ(::pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
        out = UniqueFd{fds[0]};
        in = UniqueFd{fds[1]};
    }
    UniqueFd out, in;
};

TEST(WriteAll, AWriteToAFullPipeWaitsUntilAllBytesAreWritten)
{
    Pipe pipe;
    sys::Event cancel;
    const std::vector<std::byte> data(1 << 20, std::byte{7});
    std::thread reader([&] {
        std::vector<std::byte> got(data.size());
        for (std::size_t done = 0; done < data.size();) {
            ASSERT_TRUE(sys::wait_for(pipe.out.get(), POLLIN, sys::after(10'000'000'000)));
            const auto n = sys::read_some(pipe.out.get(), "pipe", std::span(got).subspan(done));
            done += n > 0 ? static_cast<std::size_t>(n) : 0;
        }
        EXPECT_EQ(got, data);
    });
    std::size_t done = 0;
    EXPECT_TRUE(sys::write_all(pipe.in.get(), "pipe", data, cancel.fd(), done));
    EXPECT_EQ(done, data.size());
    reader.join();
}

TEST(WriteAll, ACancelEndsTheWaitAndReturnsTheProgress)
{
    Pipe pipe;
    sys::Event cancel;
    const std::vector<std::byte> data(1 << 20);
    std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        cancel.set();
    });
    std::size_t done = 0;
    EXPECT_FALSE(sys::write_all(pipe.in.get(), "pipe", data, cancel.fd(), done));
    EXPECT_GT(done, 0u);
    EXPECT_LT(done, data.size());
    canceller.join();
}

TEST(WriteAll, NothingToWriteReturnsImmediately)
{
    std::size_t done = 7;
    EXPECT_TRUE(sys::write_all(-1, "nowhere", {}, -1, done));
    EXPECT_EQ(done, 0u);
}

TEST(ReadSome, DataNoDataYetAndTheEndAreDistinguished)
{
    Pipe pipe;
    std::vector<std::byte> out(10);
    EXPECT_EQ(sys::read_some(pipe.out.get(), "pipe", out), -1);
    ASSERT_EQ(::write(pipe.in.get(), "abc", 3), 3);
    EXPECT_EQ(sys::read_some(pipe.out.get(), "pipe", out), 3);
    pipe.in.reset();
    EXPECT_EQ(sys::read_some(pipe.out.get(), "pipe", out), 0);
    const Error error = error_of([&] { sys::read_some(-1, "gone", out); });
    EXPECT_EQ(error.code().value(), EBADF);
    EXPECT_EQ(error.object(), "gone");
}

TEST(Mapping, AMappingOwnsItsPages)
{
    sys::Mapping mapping = sys::Mapping::of_pages(8192);
    ASSERT_TRUE(mapping.valid());
    EXPECT_EQ(mapping.bytes(), 8192u);
    mapping.data()[8191] = std::byte{1};
    const sys::Mapping moved = std::move(mapping);
    EXPECT_FALSE(mapping.valid()); // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(moved.data()[8191], std::byte{1});
    EXPECT_EQ(error_of([] { sys::Mapping::of_file(-1, 4096, 0, sys::Access::read_only, "x"); })
                  .code()
                  .value(),
              EBADF);
}

TEST(Machine, TheLimitOfOpenFilesIsRaisedOnlyAsFarAsNeeded)
{
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_GE(before.rlim_max, 500u);
    const rlimit low{100, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    EXPECT_GE(sys::room_for_open_files(10), 10u);
    EXPECT_EQ(sys::open_files_limit(), 100u);
    EXPECT_GE(sys::room_for_open_files(300), 300u);
    EXPECT_LT(sys::open_files_limit(), 500u);
    EXPECT_LT(sys::room_for_open_files(before.rlim_max), before.rlim_max);
    EXPECT_EQ(sys::open_files_limit(), before.rlim_max);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

} // namespace
