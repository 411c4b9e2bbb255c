// SPDX-License-Identifier: MIT
// Sinks whose receiver has not connected yet.
#include "iio_stream/session.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(Listeners, ASourceWaitsForItsReceiversWithoutDelayingOtherPipelines)
{
    std::atomic<bool> here{false};
    const SourceAt held = fake_source({.total = 10'000}), other = fake_source({.total = 10'000});
    Session session;
    session.add(
        config_of(held.uri, {fake_sink({.has_receiver = [&] { return here.load(); }}).uri}));
    session.add(config_of(other.uri, {fake_sink().uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return session[1].ended(); }));
    EXPECT_EQ(held.log->started, 0);
    EXPECT_FALSE(session[0].ended());
    here = true;
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(held.log->started, 1);
    EXPECT_EQ(session[0].summary().ended, "eof");
    EXPECT_EQ(session[0].stats().samples, 10'000u);
}

TEST(Listeners, WaitingForAReceiverCanBeStopped)
{
    const SourceAt held = fake_source({});
    Session session;
    session.add(config_of(held.uri, {fake_sink({.has_receiver = [] { return false; }}).uri}));
    session.prepare();
    session.start();
    EXPECT_FALSE(session.wait(20ms));
    session.request_stop();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(held.log->started, 0);
    EXPECT_EQ(session[0].summary().ended, "signal");
    EXPECT_EQ(session[0].stats().samples, 0u);
}

TEST(Listeners, AReceiverThatNeverConnectsIsAnErrorOfTheSink)
{
    std::atomic<int> looks{0};
    const SourceAt held = fake_source({});
    Session session;
    session.add(config_of(held.uri, {fake_sink({.has_receiver = [&]() -> bool {
                                         if (++looks < 3)
                                             return false;
                                         throw Error(Fault::storage, ETIMEDOUT, "wait for", "fake");
                                     }}).uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(fault_of(session[0].summary()), Fault::storage);
    EXPECT_EQ(held.log->started, 0);
}

TEST(Listeners, StorageStartsWhenTheReceiverHasConnected)
{
    std::atomic<bool> here{false};
    const SinkAt storage = fake_sink(), threaded = fake_sink({.may_block = true}),
                 peer = fake_sink(
                     {.fault = Fault::device, .has_receiver = [&] { return here.load(); }});
    Session session;
    session.add(
        config_of(fake_source({.total = 10'000}).uri, {storage.uri, threaded.uri, peer.uri}));
    session.prepare();
    session.start();
    EXPECT_FALSE(session.wait(50ms));
    EXPECT_EQ(peer.log->started, 1);
    EXPECT_EQ(storage.log->started + threaded.log->started, 0);
    here = true;
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(storage.log->started, 1);
    EXPECT_EQ(threaded.log->started, 1);
    EXPECT_EQ(storage.log->drained + threaded.log->drained, 2);
    EXPECT_EQ(storage.log->samples, 10'000u);
    EXPECT_EQ(threaded.log->samples, 10'000u);
}

TEST(Listeners, StorageThatHasNotStartedIsAborted)
{
    const SinkAt storage = fake_sink(), threaded = fake_sink({.may_block = true});
    Session session;
    session.add(
        config_of(fake_source({}).uri, {storage.uri, threaded.uri,
                                        fake_sink({.has_receiver = [] { return false; }}).uri}));
    session.prepare();
    session.start();
    session.request_stop();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(storage.log->started + threaded.log->started, 0);
    EXPECT_EQ(storage.log->aborted + threaded.log->aborted, 2);
    EXPECT_EQ(session[0].summary().ended, "signal");
}

} // namespace
