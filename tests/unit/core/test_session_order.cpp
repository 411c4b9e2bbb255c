// SPDX-License-Identifier: MIT
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(SessionOrder, StartPreparesNewStreamsAndLeavesRunningStreamsAlone)
{
    Session session;
    session.add(config_of("sim:?rate=0", {"null:"}));
    session.prepare();
    session.add(config_of("sim:?rate=0", {"null:"}));
    session.start();
    session.start();
    session.stop();
    EXPECT_EQ(session[0].summary().ended, "signal");
    EXPECT_EQ(session[1].summary().ended, "signal");
    session.start();
    expect_usage_error([&] { session.add(config_of("sim:?rate=0", {"null:"})); }, "running session",
                       "stop()");
}

TEST(SessionOrder, ARunningStreamIsNotPreparedAgain)
{
    Session session;
    session.add(config_of("sim:?rate=1M", {"null:"}));
    session.prepare();
    session.start();
    expect_usage_error([&] { session.prepare(); }, "while streams run", "stop()");
    EXPECT_FALSE(session.wait(1ms));
    session.stop();
    session.prepare();
    session.start();
    session.stop();
    EXPECT_FALSE(session[0].summary().error);
}

TEST(SessionOrder, WaitingBeforeTheStartIsRefused)
{
    Session session;
    EXPECT_TRUE(session.wait(1ms));
    session.add(config_of("sim:?rate=0", {"null:"}));
    expect_usage_error([&] { (void)session.wait(1ms); }, "before start", "start()");
    session.prepare();
    expect_usage_error([&] { (void)session.wait(1ms); }, "before start", "start()");
}

} // namespace
