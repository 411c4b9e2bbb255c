// SPDX-License-Identifier: MIT
// Events are kept until the program takes them.
#include "core/stream/connection_state.hpp"
#include "core/stream/event_buffer.hpp"

#include <gtest/gtest.h>
#include <string>

using namespace iio_stream;
using detail::EventBuffer;
using detail::EventWatch;

TEST(EventBuffer, EachEventIsTakenOnce)
{
    EventBuffer buffer;
    buffer.add({.kind = EventKind::loss, .gap = {5, 5, 7, 7}});
    buffer.add({.kind = EventKind::part, .count = 9, .file = "a"});
    const std::vector<Event> events = buffer.take();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].gap.lost_min, 7u);
    EXPECT_EQ(events[1].file, "a");
    EXPECT_LE(events[0].utc_ns, events[1].utc_ns);
    EXPECT_TRUE(buffer.take().empty());
}

TEST(EventBuffer, EventsWithoutRoomAreCounted)
{
    EventBuffer buffer;
    constexpr std::uint64_t kMany = 100'000;
    for (std::uint64_t i = 0; i < kMany; ++i)
        buffer.add({.kind = EventKind::loss, .gap = {i, i, 1, 1}});
    const std::vector<Event> events = buffer.take();
    ASSERT_GT(events.size(), 1u);
    EXPECT_EQ(events.back().kind, EventKind::missed);
    EXPECT_EQ(events.size() - 1 + events.back().count, kMany);
    EXPECT_EQ(events[events.size() - 2].gap.offset_min, events.size() - 2) << "early events stay";
    EXPECT_TRUE(buffer.take().empty()) << "missed events are counted once";
}

TEST(EventWatch, ChangesSinceTheLastComparisonAreReported)
{
    EventWatch watch;
    const auto changes = [&](std::vector<EventWatch::State> now) {
        std::vector<Event> events;
        watch.compare(now, events);
        std::string text;
        for (const Event& event : events)
            text += std::string(event.sink ? std::to_string(*event.sink) : "source") + " " +
                    name_of(event.kind) + " " + std::to_string(event.count) + "; ";
        return text;
    };
    EXPECT_EQ(changes({{}, {}, {}}), "");
    EXPECT_EQ(changes({{{false, 1}, 0, 0}, {{}, 5, 0}, {{}, 0, 2}}),
              "source gone 0; 0 dropped 5; 1 underflow 2; ");
    EXPECT_EQ(changes({{{false, 1}, 0, 0}, {{}, 5, 0}, {{}, 0, 2}}), "");
    EXPECT_EQ(changes({{{true, 1}, 0, 0}, {{}, 8, 0}, {{true, 1}, 0, 3}}),
              "source back 0; 0 dropped 3; 1 gone 0; 1 back 0; 1 underflow 1; ");
    watch.reset();
    EXPECT_EQ(changes({{{true, 1}, 0, 0}, {{}, 1, 0}, {{true, 1}, 0, 0}}), "0 dropped 1; ")
        << "after a reset, the drop belongs to a new stream";
}

TEST(Event, AnEventIsAJsonObject)
{
    EXPECT_EQ(
        to_json({.kind = EventKind::loss,
                 .utc_ns = 1'500'000'000,
                 .gap = {3, 4, 0, kUnknown, Evidence::starvation}}),
        R"({"event":"loss","time":"1970-01-01T00:00:01.5Z","sink":null,"after_min":3,"after_max":4,)"
        R"("lost_min":0,"lost_max":null,"evidence":"starvation"})");
    EXPECT_EQ(
        to_json({.kind = EventKind::not_stored, .sink = 1, .file = "a\xff", .error = "no \"x\""}),
        R"({"event":"not-stored","time":"1970-01-01T00:00:00Z","sink":1,"file":"a)"
        "\xef\xbf\xbd"
        R"(","error":"no \"x\""})");
    EXPECT_EQ(to_json({.kind = EventKind::removed, .sink = 0, .count = 9, .file = "a"}),
              R"({"event":"removed","time":"1970-01-01T00:00:00Z","sink":0,"file":"a","bytes":9})");
    EXPECT_EQ(
        to_json({.kind = EventKind::not_removed, .sink = 0, .file = "a", .error = "no"}),
        R"({"event":"not-removed","time":"1970-01-01T00:00:00Z","sink":0,"file":"a","error":"no"})");
}

TEST(ConnectionState, OnlyChangesOfTheStateAreCounted)
{
    detail::ConnectionState peer;
    const auto expect = [&](bool connected, std::uint64_t disconnects) {
        EXPECT_EQ(peer.state().connected, connected);
        EXPECT_EQ(peer.state().disconnects, disconnects);
    };
    peer.restored(); // the first peer has not been away
    expect(true, 0);
    peer.lost();
    peer.lost();
    expect(false, 1);
    peer.restored();
    peer.restored();
    expect(true, 1);
    peer.lost();
    expect(false, 2);
}
