// SPDX-License-Identifier: MIT
#include "sys/named_thread.hpp"

#include <ctime>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace iio_stream::sys {
namespace {

// Names a thread, and returns the name that the kernel shows for it.
std::string name_of_thread_named(const char* wanted)
{
    std::string name;
    std::thread([&] {
        const NamedThread named(wanted);
        std::ifstream file("/proc/thread-self/comm");
        std::getline(file, name);
    }).join();
    return name;
}

double time_of(const std::string& name)
{
    for (const ThreadTime& time : thread_times())
        if (time.name == name)
            return time.cpu_seconds;
    return -1;
}

void compute()
{
    const std::clock_t start = std::clock();
    while (std::clock() - start < CLOCKS_PER_SEC / 50) {
    }
}

TEST(NamedThread, TheKernelKnowsTheName)
{
    EXPECT_EQ(name_of_thread_named("iios-test"), "iios-test");
}

TEST(NamedThread, ALongNameIsCutAtFifteenCharacters)
{
    EXPECT_EQ(name_of_thread_named("iios-a-very-long-name"), "iios-a-very-lon");
}

TEST(NamedThread, TheTimeIsCountedWhileTheThreadRunsAndAfterItHasEnded)
{
    std::promise<void> computed, over;
    std::thread thread([&] {
        const NamedThread named("iios-busy");
        compute();
        computed.set_value();
        over.get_future().wait();
    });
    computed.get_future().wait();
    const double running = time_of("iios-busy");
    EXPECT_GT(running, 0);
    over.set_value();
    thread.join();
    EXPECT_GE(time_of("iios-busy"), running);
}

TEST(NamedThread, ThreadsOfOneNameAreAddedUp)
{
    const auto run = [] {
        const NamedThread named("iios-twice");
        compute();
    };
    std::thread(run).join();
    const double once = time_of("iios-twice");
    std::thread(run).join();
    EXPECT_GT(time_of("iios-twice"), once);
}

// ThreadSanitizer does not allow the child to start a thread, so the child names its only one.
TEST(NamedThread, TheChildOfAForkHasNoThreadOfItsParent)
{
    std::promise<void> over;
    std::promise<void> started;
    std::thread thread([&] {
        const NamedThread named("iios-parent");
        started.set_value();
        over.get_future().wait();
    });
    started.get_future().wait();
    const pid_t child = ::fork();
    if (child == 0) {
        {
            const NamedThread named("iios-child");
        }
        ::_exit(time_of("iios-parent") < 0 && time_of("iios-child") >= 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    over.set_value();
    thread.join();
}

} // namespace
} // namespace iio_stream::sys
