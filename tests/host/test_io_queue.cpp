// SPDX-License-Identifier: MIT
// The queues of requests to a file, and their wait in place of poll().
#include "iio_stream/block.hpp"
#include "support/direct_io.hpp"
#include "support/fake.hpp"
#include "support/files.hpp"
#include "sys/disk/io_queue.hpp"
#include "sys/event.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

constexpr int kLongMs = 20'000; ///< longer than any wait that succeeds
constexpr std::size_t kQueueDepth = 4, kQueueBlock = 64 << 10;

class RequestQueue : public DirectIoTest {
protected:
    void SetUp() override
    {
        DirectIoTest::SetUp();
        if (IsSkipped())
            return;
        fd_ = sys::UniqueFd{::open(path().c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600)};
        const auto samples = ramp(0, kQueueDepth * kQueueBlock / 4);
        std::vector<std::span<std::byte>> buffers;
        for (std::size_t i = 0; i < kQueueDepth; ++i) {
            buffers.push_back(pool_.mapping(i));
            std::memcpy(buffers[i].data(), samples.data() + i * kQueueBlock, kQueueBlock);
        }
        queue_ = std::string(GetParam()) == "io_uring"
                     ? sys::make_uring_queue(fd_.get(), path(), kQueueDepth, buffers)
                     : sys::make_aio_queue(fd_.get(), path(), kQueueDepth);
    }
    std::string path() const { return dir_ / "a"; }

    void write_all()
    {
        for (std::size_t i = 0; i < kQueueDepth; ++i)
            queue_->write(pool_.mapping(i), i * kQueueBlock, i, i);
    }
    /// Takes the completed writes, and returns whether all have been taken.
    bool took_all()
    {
        while (const auto completed = queue_->take()) {
            EXPECT_EQ(completed->result, static_cast<std::ptrdiff_t>(kQueueBlock));
            EXPECT_LT(completed->tag, kQueueDepth);
            ++taken_;
        }
        return taken_ == kQueueDepth;
    }
    void expect_written() const
    {
        EXPECT_EQ(contents(path()), ramp(0, kQueueDepth * kQueueBlock / 4));
    }
    /// Waits for the queue and the event. The kernel's work for an io_uring of an earlier test can
    /// interrupt the wait, as a signal would.
    int wait(int timeout_ms)
    {
        for (;;) {
            fds_ = {{{queue_->fd(), POLLIN, 0}, {event_.fd(), POLLIN, 0}}};
            const int ready = queue_->poll(fds_, timeout_ms);
            if (ready >= 0 || errno != EINTR)
                return ready;
        }
    }
    bool own_is_ready() const { return fds_[0].revents != 0; }
    bool event_is_ready() const { return fds_[1].revents != 0; }

    BlockPool pool_{Memory{}, kQueueBlock, kQueueDepth, CpuUse::mapped};
    sys::UniqueFd fd_;
    std::unique_ptr<sys::IoQueue> queue_;
    sys::Event event_;
    std::array<pollfd, 2> fds_{};
    std::size_t taken_ = 0;
};

TEST_P(RequestQueue, AWaitEndsWithEachCompletion)
{
    write_all();
    while (!took_all()) {
        ASSERT_EQ(wait(kLongMs), 1);
        EXPECT_TRUE(own_is_ready());
        EXPECT_FALSE(event_is_ready());
    }
    expect_written();
}

TEST_P(RequestQueue, AWaitByPollGetsTheRequestsThatWereHeldBack)
{
    write_all();
    queue_->submit();
    while (!took_all())
        ASSERT_TRUE(sys::wait_for(queue_->fd(), POLLIN, sys::after(kLongMs * 1'000'000LL)));
    expect_written();
}

TEST_P(RequestQueue, TheKindsOfWaitCanAlternate)
{
    for (int round = 0; round < 20; ++round) {
        taken_ = 0;
        write_all();
        for (bool own = round % 2 == 0; !took_all(); own = !own) {
            if (own) {
                ASSERT_EQ(wait(kLongMs), 1);
                continue;
            }
            queue_->submit();
            ASSERT_TRUE(sys::wait_for(queue_->fd(), POLLIN, sys::after(kLongMs * 1'000'000LL)));
        }
    }
    expect_written();
}

TEST_P(RequestQueue, AWaitEndsWhenItsTimeIsOver)
{
    EXPECT_EQ(wait(0), 0);
    EXPECT_EQ(wait(2), 0);
    EXPECT_FALSE(own_is_ready() || event_is_ready());
}

TEST_P(RequestQueue, AnotherDescriptorThatIsReadyEndsTheWait)
{
    event_.set();
    for (int i = 0; i < 3; ++i) { // until the event is cleared
        ASSERT_EQ(wait(kLongMs), 1);
        EXPECT_TRUE(event_is_ready());
        EXPECT_FALSE(own_is_ready());
    }
    event_.clear();
    EXPECT_EQ(wait(0), 0);
}

// Whenever the other thread sets the event, before, during or after the call, the wait ends.
TEST_P(RequestQueue, NoEventOfAnotherThreadIsMissed)
{
    constexpr int kRounds = 2000;
    sys::Event back;
    std::thread other([&] {
        for (int i = 0; i < kRounds; ++i) {
            event_.set();
            if (!sys::wait_for(back.fd(), POLLIN, sys::after(kLongMs * 1'000'000LL)))
                return;
            back.clear();
        }
    });
    int ended = 0;
    while (ended < kRounds && wait(kLongMs) == 1 && event_is_ready()) {
        event_.clear();
        back.set();
        ++ended;
    }
    other.join();
    EXPECT_EQ(ended, kRounds);
}

TEST_P(RequestQueue, AnEventIsReportedAlthoughAnEarlierWaitLeftItOut)
{
    ASSERT_EQ(wait(0), 0); // the request to poll the event is in the kernel now
    event_.set();
    std::array<pollfd, 2> without{{{queue_->fd(), POLLIN, 0}, {-1, POLLIN, 0}}};
    EXPECT_LE(queue_->poll(without, 1), 0);
    EXPECT_EQ(without[0].revents, 0);
    ASSERT_EQ(wait(kLongMs), 1);
    EXPECT_TRUE(event_is_ready());
}

TEST_P(RequestQueue, AnEventAndCompletionsTogetherAreAllReported)
{
    ASSERT_EQ(wait(0), 0);
    write_all();
    event_.set();
    bool event = false;
    while (!took_all() || !event) {
        ASSERT_GE(wait(kLongMs), 1);
        event = event || event_is_ready();
        if (event_is_ready())
            event_.clear();
    }
    expect_written();
}

TEST_P(RequestQueue, MoreDescriptorsThanTheQueueCanWatchAreWatchedByPoll)
{
    std::vector<sys::Event> events(8);
    std::vector<pollfd> fds{{queue_->fd(), POLLIN, 0}};
    for (const sys::Event& event : events)
        fds.push_back({event.fd(), POLLIN, 0});
    EXPECT_EQ(queue_->poll(fds, 0), 0);
    events.back().set();
    EXPECT_EQ(queue_->poll(fds, kLongMs), 1);
    EXPECT_NE(fds.back().revents, 0);
    write_all();
    queue_->submit();
    while (!took_all())
        ASSERT_GE(queue_->poll(fds, kLongMs), 1);
    expect_written();
}

TEST_P(RequestQueue, AQueueWithPendingPollsEndsAtOnce)
{
    ASSERT_EQ(wait(0), 0);
    queue_.reset();
    EXPECT_FALSE(event_.is_set());
}

INSTANTIATE_TEST_SUITE_P(Engines, RequestQueue, testing::Values("io_uring", "libaio"));

} // namespace
