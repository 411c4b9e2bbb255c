// SPDX-License-Identifier: MIT
#include "core/stream/control_thread.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;
using detail::ControlThread;

class Checked final : public SlowCheck {
public:
    std::chrono::nanoseconds check() override
    {
        busy = true;
        ++checks;
        if (hold)
            std::this_thread::sleep_for(20ms);
        called.clear();
        busy = false;
        if (fails && checks > 1)
            throw Error(Fault::device, ENODEV, "read", "register");
        return again;
    }
    int check_fd() const noexcept override { return called.fd(); }

    std::atomic<int> checks{0};
    std::atomic<bool> busy{false}, hold{false};
    bool fails = false;
    std::chrono::nanoseconds again = 1h;
    sys::Event called;
};

TEST(ControlThread, TheFirstCheckIsMadeBeforeAddReturns)
{
    Checked source; // must outlive the control thread
    ControlThread control;
    control.add(source);
    EXPECT_EQ(source.checks, 1);
}

TEST(ControlThread, ChecksAreMadeWhenTheyAreDue)
{
    Checked often, seldom;
    ControlThread control;
    often.again = 1ms;
    control.start();
    control.add(often);
    control.add(seldom);
    EXPECT_TRUE(eventually([&] { return often.checks >= 10; }));
    EXPECT_EQ(seldom.checks, 1);
}

TEST(ControlThread, ARequestedCheckRunsImmediately)
{
    Checked source; // must outlive the control thread
    ControlThread control;
    control.start();
    control.add(source);
    for (int i = 2; i < 20; ++i) {
        source.called.set();
        EXPECT_TRUE(eventually([&] { return source.checks == i && !source.busy; }));
    }
}

TEST(ControlThread, AfterRemoveNoCheckIsRunningOrStarts)
{
    ControlThread control;
    control.start();
    for (int i = 0; i < 10; ++i) {
        Checked source;
        source.again = 0ns;
        control.add(source);
        source.hold = true;
        EXPECT_TRUE(eventually([&] { return source.checks > 1; }));
        control.remove(source);
        EXPECT_FALSE(source.busy);
        const int checks = source.checks;
        source.called.set();
        std::this_thread::sleep_for(2ms);
        EXPECT_EQ(source.checks, checks);
    }
}

TEST(ControlThread, ACheckDueAfterTheMaximumDurationDoesNotRunAgain)
{
    Checked source; // must outlive the control thread
    ControlThread control;
    source.again = std::chrono::nanoseconds::max();
    control.start();
    control.add(source);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(source.checks, 1);
}

TEST(ControlThread, AFailedCheckEndsTheChecksOfItsOwnSourceOnly)
{
    Checked bad, good;
    ControlThread control;
    bad.again = good.again = 1ms;
    bad.fails = true;
    control.start();
    control.add(bad);
    control.add(good);
    EXPECT_TRUE(eventually([&] { return bad.checks == 2 && good.checks >= 5; }));
    bad.called.set(); // its file descriptor is no longer polled either
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(bad.checks, 2);
    control.remove(bad);
}

TEST(ControlThread, AStreamWhoseChecksFailContinues)
{
    const SourceAt source = fake_source({.total = 1'000'000, .check = [n = 0]() mutable {
                                             if (++n > 1)
                                                 throw std::runtime_error("no register");
                                         }});
    PipelineConfig config;
    config.source = source.uri;
    config.sinks = {fake_sink({.records = false,
                               .submit =
                                   [log = source.log](const Block&, int) {
                                       EXPECT_TRUE(eventually([&] { return log->checked >= 2; }));
                                   }})
                        .uri};
    const Summary summary = run(config);
    EXPECT_EQ(summary.ended, "eof"); // after the failed check
    EXPECT_EQ(source.log->checked, 2);
}

} // namespace
