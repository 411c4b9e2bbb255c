// SPDX-License-Identifier: MIT
// The host's end of the cable against a faulty board: it sends garbage, incomplete blocks and
// stalls. Its headers are truncated, damaged, repeated, or of another stream. Only blocks of this
// stream are delivered, in their places, and missing samples are reported.
#include "support/fake.hpp"
#include "support/fake_usb.hpp"
#include "support/usb_sender.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using framing::Header;

/// Checks that each sample is at its place on the board, and that missing samples are reported as
/// lost.
void expect_true(const Received& received, std::uint64_t sent_blocks)
{
    ASSERT_FALSE(received.summary.error) << received.summary.error->what();
    const auto& log = *received.log;
    std::uint64_t next = log.infos.empty() ? 0 : log.infos[0].sample_index;
    for (const BlockInfo& block : log.infos) {
        ASSERT_EQ(block.bytes, kBlock);
        const auto wanted = ramp(block.sample_index, kBlockSamples);
        ASSERT_EQ(std::memcmp(log.bytes.data() + 4 * block.position, wanted.data(), kBlock), 0)
            << block.sample_index;
        ASSERT_GE(block.sample_index, next);
        ASSERT_EQ(block.gap_count != 0, block.sample_index != next) << block.sample_index;
        next = block.sample_index + kBlockSamples;
    }
    const auto& stats = received.summary.stats;
    EXPECT_EQ(stats.gaps.lost_min, stats.gaps.lost_max);
    EXPECT_EQ(log.samples + stats.gaps.lost_min, sent_blocks * kBlockSamples);
}

TEST(UsbRealign, AnUndisturbedStreamIsComplete)
{
    Sender sender(100, [](Sender&) {});
    const Received received = receive(sender);
    expect_true(received, 100);
    EXPECT_EQ(received.log->samples, 100 * kBlockSamples);
}

/// Disturbs every tenth block from the tenth on. The host joins the stream at its beginning.
auto now_and_then(std::function<void(Sender&)> disturb)
{
    return [disturb = std::move(disturb)](Sender& s) {
        if (s.sent >= 10 && s.sent % 10 == 0)
            disturb(s);
    };
}

/// A fault between two blocks.
struct Disturbance {
    const char* name;
    std::function<void(Sender&)> send;
};

void PrintTo(const Disturbance& disturbance, std::ostream* out)
{
    *out << disturbance.name;
}

Header another_stream(Sender& s)
{
    Header h = Sender::header_of(s.sent);
    h.stream_id = kStream - 1;
    return h;
}

/// Sends more garbage than the host has requested until then.
void throw_out_of_step(Sender& s)
{
    for (int i = 0; i < 50; ++i)
        s.send(s.garbage(100));
}

/// Sends a header that is valid except for the size of its block, and that block.
void send_block_of(Sender& s, std::uint32_t bytes)
{
    Header h = Sender::header_of(s.sent);
    h.wire_bytes = h.valid_bytes = bytes;
    s.send(on_wire(h));
    s.send(s.garbage(bytes));
}

const Disturbance kDisturbances[] = {
    {"garbage", [](Sender& s) { s.send(s.garbage(1 + s.random() % 3000)); }},
    {"garbage of whole packets", // after a valid header, it could pass for its block
     [](Sender& s) {
         s.queue.push_back({.bytes = s.garbage(1024 * (1 + s.random() % 3)), .zero_packet = true});
     }},
    {"an empty packet", [](Sender& s) { s.queue.push_back({.zero_packet = true}); }},
    {"a halted endpoint", [](Sender& s) { s.queue.push_back({.stall = true}); }},
    {"a header cut short",
     [](Sender& s) {
         auto bytes = on_wire(Sender::header_of(s.sent));
         bytes.resize(s.random() % bytes.size());
         bytes.empty() ? s.queue.push_back({.zero_packet = true}) : s.send(bytes);
     }},
    {"a damaged header and its block",
     [](Sender& s) {
         s.send_block(s.sent);
         auto& header = s.queue[s.queue.size() - 2].bytes;
         header[s.random() % header.size()] ^= std::byte{1};
     }},
    {"bytes after a header",
     [](Sender& s) {
         auto bytes = on_wire(Sender::header_of(s.sent));
         bytes.resize(bytes.size() + 1 + s.random() % 500);
         s.send(bytes);
     }},
    {"the last header again", [](Sender& s) { s.send(on_wire(Sender::header_of(s.sent - 1))); }},
    {"the next header twice", [](Sender& s) { s.send(on_wire(Sender::header_of(s.sent))); }},
    {"an old block again", [](Sender& s) { s.send_block(s.sent - 1 - s.random() % 9); }},
    {"part of a block",
     [](Sender& s) {
         s.send_block(s.sent);
         s.queue.back().bytes.resize(1 + s.random() % (kBlock - 1));
         s.queue.back().zero_packet = s.queue.back().bytes.size() % 1024 == 0;
     }},
    {"a block of another stream",
     [](Sender& s) {
         s.send(on_wire(another_stream(s)));
         s.send(s.garbage(kBlock));
     }},
    {"a larger block", [](Sender& s) { send_block_of(s, 16 * kBlock); }},
    {"a larger block while the host is out of step",
     [](Sender& s) {
         throw_out_of_step(s);
         send_block_of(s, 16 * kBlock);
     }},
    {"a smaller block while the host is out of step",
     [](Sender& s) {
         throw_out_of_step(s);
         send_block_of(s, 1024);
     }},
};

class UsbRealignAfter : public testing::TestWithParam<Disturbance> {};

TEST_P(UsbRealignAfter, OnlyTheLostSamplesAreMissing)
{
    for (const char* options : {"", "?transfers=1", "?transfers=3&transfer_size=1Ki"}) {
        Sender sender(100, now_and_then(GetParam().send));
        const Received received = receive(sender, options);
        SCOPED_TRACE(options);
        expect_true(received, 100);
        // With eight blocks in flight, the received parts of the others are discarded together with
        // the bad block.
        EXPECT_GE(received.log->samples, 10 * kBlockSamples);
    }
}

INSTANTIATE_TEST_SUITE_P(, UsbRealignAfter, testing::ValuesIn(kDisturbances));

// The end means that the board's program ends, and nothing follows it.
TEST(UsbRealign, AnEndHeaderOfAnyStreamEndsTheStream)
{
    Sender sender(100, [](Sender& s) {
        if (s.sent != 20)
            return;
        Header h = s.end();
        h.stream_id = kStream - 1;
        s.send(on_wire(h));
    });
    const Received received = receive(sender);
    expect_true(received, 20);
}

// Posting the transfers of a block takes a while if there are many. By then, the end has arrived
// and the board has gone.
TEST(UsbRealign, TheEndFromABoardThatLeavesImmediatelyIsReceived)
{
    for (const char* options : {"", "?transfers=1", "?transfers=2&transfer_size=1Ki"}) {
        Sender sender(100, [](Sender&) {});
        sender.leaves = true;
        const Received received = receive(sender, options);
        SCOPED_TRACE(options);
        expect_true(received, 100);
        EXPECT_EQ(received.log->samples, 100 * kBlockSamples);
    }
}

TEST(UsbRealign, ABoardThatLeavesMidBlockEndsTheStreamWithAnError)
{
    for (const std::size_t there : {0u, 1u, 3u}) {
        Sender sender(100, [&](Sender& s) {
            if (s.sent != 50)
                return;
            s.send(on_wire(Sender::header_of(50)));
            s.send(s.garbage(1024 * there));
            s.queue.push_back({.leave = true});
        });
        const Received received = receive(sender, "?transfers=2&transfer_size=1Ki");
        ASSERT_TRUE(received.summary.error);
        EXPECT_EQ(received.summary.error->code().value(), ENODEV);
        EXPECT_EQ(received.log->samples, 50 * kBlockSamples + 256 * there); // and the received part
    }
}

// Without the repetition, the board would keep sending to a host that has ended.
TEST(UsbRealign, AMissedStopIsRepeated)
{
    Sender sender(kUnknown, [](Sender&) {});
    FakeUsb board(board_info(), kStream, [&] { return sender.next(); });
    board.miss_stops(2);
    const SinkAt sink = fake_sink();
    PipelineConfig config = config_of("usb:", {sink.uri});
    config.bytes = 10 * kBlock;
    EXPECT_FALSE(run(config).error);
    EXPECT_EQ(board.stops(), 1);
}

TEST(UsbRealign, RandomCombinationsOfFaultsAreSurvived)
{
    for (unsigned seed = 0; seed < 30; ++seed) {
        Sender sender(200, [](Sender& s) {
            if (s.sent > 0 && s.random() % 4 == 0)
                for (auto more = s.random() % 3 + 1; more > 0 && s.sent >= 10; --more)
                    kDisturbances[s.random() % std::size(kDisturbances)].send(s);
        });
        sender.random.seed(seed);
        SCOPED_TRACE("seed " + std::to_string(seed));
        expect_true(receive(sender), 200);
    }
}

// Valid checksums, but invalid contents: the host must not touch any memory outside its blocks.
TEST(UsbRealign, HeadersWithAnyContentsAreHarmless)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        Sender sender(200, [](Sender& s) {
            Header h = Sender::header_of(s.sent);
            h.flags = static_cast<std::uint32_t>(s.random() % 16);
            h.sequence = s.random();
            h.sample_index = s.random() >> (s.random() % 64);
            h.time_ns = std::array{INT64_MIN, INT64_MAX,
                                   static_cast<std::int64_t>(s.random())}[s.random() % 3];
            h.wire_bytes = static_cast<std::uint32_t>(1024 * (s.random() % 64));
            h.valid_bytes = static_cast<std::uint32_t>(s.random() % (h.wire_bytes + 1)) / 4 * 4;
            if (s.random() % 2 == 0)
                h.loss = {static_cast<std::int64_t>(s.random()), INT64_MAX, s.random(), kUnknown,
                          Evidence::counter};
            if ((h.flags & Header::end) == 0)
                s.send(on_wire(h));
            s.send(s.garbage(h.wire_bytes));
        });
        sender.random.seed(seed);
        const Received received = receive(sender);
        EXPECT_LE(received.log->samples * 4, received.log->blocks * kBlock) << seed;
    }
}

} // namespace
