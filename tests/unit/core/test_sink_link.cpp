// SPDX-License-Identifier: MIT
// Several sinks of one source: slow sinks, full sinks, and sinks with a conversion.
#include "core/stream/sink_link.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/gate.hpp"

#include <gtest/gtest.h>
#include <set>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

TEST(SinkLink, ManySinksShareABlockByReference)
{
    std::mutex mutex;
    std::map<std::uint64_t, std::set<const void*>> places;
    const auto note = [&](const Block& filled, int) {
        const CpuRead data{filled};
        const std::lock_guard lock(mutex);
        places[filled.sequence()].insert(data.bytes().data());
    };
    const std::vector<std::string> sinks{fake_sink({.submit = note}).uri,
                                         fake_sink({.may_block = true, .submit = note}).uri,
                                         fake_sink({.may_block = true, .submit = note}).uri};
    run(config_of(fake_source({.total = 30'000}).uri, sinks));
    EXPECT_EQ(places.size(), 30u);
    for (const auto& [sequence, at] : places)
        EXPECT_EQ(at.size(), 1u) << "block " << sequence << " was copied";
}

TEST(SinkLink, ABlockedSinkHoldsBlocksButLosesNoSamples)
{
    Gate gate;
    const SourceAt source = fake_source({.total = 50'000});
    const SinkAt blocked = fake_sink({.may_block = true, .submit = gate.hold_up(false)});
    const SinkAt free = fake_sink();
    Session session;
    session.add(config_of(source.uri, {blocked.uri, free.uri}));
    session.prepare();
    session.start();
    // The free sink gets a block for each buffer of the pool. After that, no block can follow.
    EXPECT_TRUE(eventually([&] { return free.log->blocks == 8; }));
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(free.log->blocks, 8u);
    EXPECT_EQ(source.log->submitted, 8u);
    gate.open.set();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(blocked.log->bytes, ramp(0, 50'000));
    EXPECT_EQ(free.log->bytes, ramp(0, 50'000));
    EXPECT_EQ(session[0].stats().sinks[0].lag_high_water, 8u);
    expect_balance(session[0].summary());
}

TEST(SinkLink, HoldLimitsTheBlocksOfASink)
{
    Gate gate;
    const SourceAt source = fake_source({.total = 50'000});
    const SinkAt blocked = fake_sink({.may_block = true, .submit = gate.hold_up(false)});
    const SinkAt free = fake_sink();
    Session session;
    session.add(config_of(source.uri, {blocked.uri + "?hold=3", free.uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return free.log->blocks == 3; }));
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(free.log->blocks, 3u); // on-full=block: no sink gets the fourth block
    gate.open.set();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(blocked.log->bytes, ramp(0, 50'000));
    EXPECT_EQ(session[0].stats().sinks[0].lag_high_water, 3u);
    EXPECT_EQ(session[0].stats().sinks[0].dropped_samples, 0u);
}

TEST(SinkLink, OnFullDropCountsDropsAndDelaysNoOtherSink)
{
    for (const char* options : {"?on-full=drop&hold=2", "?on-full=drop"}) {
        Gate gate;
        const SinkAt blocked = fake_sink({.may_block = true, .submit = gate.hold_up(false)});
        const SinkAt free = fake_sink();
        Session session;
        session.add(
            config_of(fake_source({.total = 50'000}).uri, {blocked.uri + options, free.uri}));
        session.prepare();
        session.start();
        EXPECT_TRUE(eventually([&] { return free.log->samples == 50'000; })) << options;
        gate.open.set();
        EXPECT_TRUE(session.wait(30s));
        const Summary summary = session[0].summary();
        EXPECT_EQ(free.log->bytes, ramp(0, 50'000));
        EXPECT_LE(summary.stats.sinks[0].delivered_samples, 4 * 1024u);
        EXPECT_EQ(summary.stats.sinks[0].delivered_samples, blocked.log->samples);
        EXPECT_GT(summary.stats.sinks[0].dropped_samples, 40'000u);
        expect_balance(summary);
    }
}

TEST(SinkLink, TheUsersChoiceOverridesASinksPreferenceToDrop)
{
    Gate gate;
    const SinkAt sink =
        fake_sink({.may_block = true, .drops_when_full = true, .submit = gate.hold_up(false)});
    const SinkAt blocking = fake_sink({.may_block = true, .drops_when_full = true});
    Session session;
    session.add(
        config_of(fake_source({.total = 50'000}).uri, {sink.uri, blocking.uri + "?on-full=block"}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return blocking.log->samples == 50'000; }));
    gate.open.set();
    EXPECT_TRUE(session.wait(30s));
    EXPECT_GT(session[0].stats().sinks[0].dropped_samples, 0u);
    EXPECT_EQ(session[0].stats().sinks[1].dropped_samples, 0u);
}

TEST(SinkLink, BlocksThatASinkKeepsAreNotDeliveredYet)
{
    const SinkAt sink = fake_sink({.keeps = true});
    Session session;
    session.add(config_of(fake_source({.total = 50'000}).uri, {sink.uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return sink.log->blocks == 8; }));
    EXPECT_EQ(session[0].stats().sinks[0].delivered_samples, 0u);
    sink.log->let_go(3);
    EXPECT_TRUE(eventually([&] { return sink.log->blocks == 11; }));
    EXPECT_TRUE(
        eventually([&] { return session[0].stats().sinks[0].delivered_samples == 3 * 1024; }));
    sink.log->let_go(1000);
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(sink.log->bytes, ramp(0, 50'000));
    expect_balance(session[0].summary());
}

TEST(SinkLink, AThreadedSinkCanKeepBlocks)
{
    const SinkAt sink = fake_sink({.may_block = true, .keeps = true});
    Session session;
    session.add(config_of(fake_source({.total = 20'000}).uri, {sink.uri + "?hold=2"}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return sink.log->blocks == 2; }));
    sink.log->let_go(1000);
    EXPECT_TRUE(session.wait(30s));
    EXPECT_EQ(sink.log->bytes, ramp(0, 20'000));
}

TEST(SinkLink, AConversionHasItsOwnThreadAndKeepsTheCounts)
{
    const SinkAt sink = fake_sink();
    const Summary summary =
        run(config_of(fake_source({.total = 50'000}).uri, {sink.uri + "?convert=cf32_le"}));
    EXPECT_EQ(summary.ended, "eof");
    EXPECT_EQ(summary.stats.samples, 50'000u);
    EXPECT_EQ(summary.stats.sinks[0].delivered_samples, 50'000u);
    EXPECT_EQ(summary.stats.sinks[0].bytes, 400'000u);
    EXPECT_EQ(sink.log->bytes.size(), 400'000u);
    ASSERT_EQ(summary.route.size(), 3u);
    EXPECT_EQ(summary.route[1].mechanism, "convert:cf32_le");
    EXPECT_EQ(summary.copies(), 1u);
}

TEST(SinkLink, ASlowSinkAfterAConversionLosesNothing)
{
    int slow = 0;
    FakeSink::Script script{.may_block = true, .keeps = true};
    script.submit = [&](const Block&, int) {
        if (++slow % 10 == 0)
            (void)::poll(nullptr, 0, 1);
    };
    const SinkAt sink = fake_sink(script);
    Session session;
    session.add(config_of(fake_source({.total = 100'000}).uri, {sink.uri + "?convert=ri16_be"}));
    session.prepare();
    session.start();
    while (!session.wait(1ms))
        sink.log->let_go(1);
    EXPECT_EQ(session[0].summary().ended, "eof");
    EXPECT_EQ(sink.log->samples, 100'000u);
    std::vector<std::byte> swapped = ramp(0, 100'000);
    for (std::size_t i = 0; i < swapped.size(); i += 2)
        std::swap(swapped[i], swapped[i + 1]);
    EXPECT_EQ(sink.log->bytes, swapped);
}

TEST(SinkLinkOptions, AnySinksUriAcceptsTheLinkOptions)
{
    Uri uri = Uri::parse("null:?on-full=drop&hold=4&convert=cf32_le&rate=1M");
    const auto options = detail::SinkLinkOptions::from(uri.options);
    EXPECT_EQ(options.drop, true);
    EXPECT_EQ(options.hold, 4u);
    EXPECT_EQ(options.convert, "cf32_le");
    EXPECT_EQ(uri.options.values().size(), 1u);
}

TEST(SinkLink, ADeviceGetsABlockAfterTheSinksThatReadIt)
{
    std::string order;
    const auto script = [&](char name, bool attached) {
        FakeSink::Script s;
        s.submit = [&order, name](const Block&, int) { order += name; };
        s.plan = [attached](const MemoryTraits&, std::string&) {
            Hop hop;
            hop.mechanism = "fake";
            hop.attached = attached;
            hop.cpu = !attached;
            return hop;
        };
        return s;
    };
    const SinkAt file = fake_sink(script('f', false)), usb = fake_sink(script('u', true)),
                 check = fake_sink(script('c', false));
    run(config_of(fake_source({.total = 3 * 1024}).uri, {file.uri, usb.uri, check.uri}));
    EXPECT_EQ(order, "fcufcufcu");
}

} // namespace
