// SPDX-License-Identifier: MIT
#include "sys/device/call_deadline.hpp"
#include "sys/device/functionfs.hpp"
#include "sys/event.hpp"
#include "sys/unique_fd.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace iio_stream;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSoonNs = 5000 * kMs; ///< allows for a busy machine

/// An ep0 whose host does not respond: reading waits, and so does writing when the socket is full.
struct Silence {
    Silence()
    {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        board = sys::UniqueFd(ends[0]);
        host = sys::UniqueFd(ends[1]);
        const std::array<std::byte, 1024> bytes{};
        while (::send(board.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0)
            ;
    }
    sys::UniqueFd board, host;
};

TEST(CallDeadline, ACallThatWouldWaitForeverEnds)
{
    const Silence silence;
    const std::int64_t before = sys::monotonic_ns();
    char byte;
    const sys::CallDeadline deadline(20 * kMs);
    EXPECT_EQ(::read(silence.board.get(), &byte, 1), -1);
    EXPECT_EQ(errno, EINTR);
    EXPECT_GE(sys::monotonic_ns() - before, 20 * kMs);
}

// If the thread makes its call after the deadline, the deadline still takes effect.
TEST(CallDeadline, ACallThatBeginsAfterTheDeadlineEnds)
{
    const Silence silence;
    const sys::CallDeadline deadline(0);
    const std::int64_t until = sys::after(50 * kMs);
    while (sys::monotonic_ns() < until)
        ;
    char byte;
    EXPECT_EQ(::read(silence.board.get(), &byte, 1), -1);
}

TEST(CallDeadline, AThreadThatBlocksAllSignalsCanUseADeadline)
{
    std::thread([] {
        sigset_t all, now;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
        const Silence silence;
        char byte;
        {
            const sys::CallDeadline deadline(kMs);
            EXPECT_EQ(::read(silence.board.get(), &byte, 1), -1);
        }
        ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
        EXPECT_EQ(::sigismember(&now, SIGURG), 1);
    }).join();
}

std::atomic<int> g_urgent{0};

TEST(CallDeadline, TheProgramsOwnSignalHandlerStaysInstalled)
{
    struct sigaction own {
    }, was{}, now{};
    own.sa_handler = [](int) { ++g_urgent; };
    ASSERT_EQ(::sigaction(SIGURG, &own, &was), 0);
    {
        const Silence silence;
        char byte;
        const sys::CallDeadline deadline(kMs);
        EXPECT_EQ(::read(silence.board.get(), &byte, 1), -1);
    }
    ::sigaction(SIGURG, &was, &now);
    EXPECT_EQ(now.sa_handler, own.sa_handler);
    EXPECT_GT(g_urgent, 0);
}

TEST(FunctionFs, ARequestThatTheHostDoesNotCompleteIsAbandoned)
{
    const Silence silence;
    std::array<std::byte, 64> data{};
    const std::int64_t before = sys::monotonic_ns();
    EXPECT_FALSE(sys::ffs_receive(silence.board.get(), data));
    sys::ffs_reply(silence.board.get(), data);
    EXPECT_LT(sys::monotonic_ns() - before, kSoonNs);
}

} // namespace
