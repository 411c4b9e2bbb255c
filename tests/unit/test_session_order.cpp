// SPDX-License-Identifier: MIT
#include "iio_stream/pipeline.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(SessionOrder, StartNeedsPrepareEachTimeAndForEachPipeline)
{
    Session session;
    session.add(config_of("sim:?rate=0", {"null:"}));
    expect_usage_error([&] { session.start(); }, "not prepared", "prepare()");
    session.prepare();
    session.add(config_of("sim:?rate=0", {"null:"}));
    expect_usage_error([&] { session.start(); }, "not prepared", "prepare()");
    session.prepare();
    session.start();
    expect_usage_error([&] { session.start(); }, "not prepared", "prepare()");
    session.stop();
    EXPECT_EQ(session[1].summary().ended, "signal");
}

TEST(SessionOrder, WhatRunsIsNotPreparedAnew)
{
    Session session;
    session.add(config_of("sim:?rate=1M", {"null:"}));
    session.prepare();
    session.start();
    expect_usage_error([&] { session.prepare(); }, "streams that run", "stop()");
    EXPECT_FALSE(session.wait(1ms));
    session.stop();
    session.prepare();
    session.start();
    session.stop();
    EXPECT_FALSE(session[0].summary().error);
}

TEST(SessionOrder, NobodyWaitsForWhatWasNotStarted)
{
    Session session;
    EXPECT_TRUE(session.wait(1ms));
    session.add(config_of("sim:?rate=0", {"null:"}));
    expect_usage_error([&] { (void)session.wait(1ms); }, "do not run", "start()");
    session.prepare();
    expect_usage_error([&] { (void)session.wait(1ms); }, "do not run", "start()");
}

} // namespace
