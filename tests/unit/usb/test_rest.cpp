// SPDX-License-Identifier: MIT
// The samples that have arrived from a board when the host stops: whole blocks, and a part of
// another block.
#include "framing/crc32c.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"
#include "support/fake_usb.hpp"
#include "support/usb_sender.hpp"

#include <deque>
#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

struct Stopped {
    Summary summary;
    std::shared_ptr<FakeSink::Log> log;
};

/// Sends a block, then the header of another block with `part` bytes of it, and stops the stream.
Stopped stop_in_a_block(std::size_t part, framing::Check check = framing::Check::none)
{
    Sender sender(2, [](Sender&) {});
    const auto all = ramp(kBlockSamples, kBlockSamples);
    const auto header_of = [&](std::uint64_t block) {
        framing::Header header = Sender::header_of(block);
        if (check != framing::Check::none)
            header.checksum = framing::crc32c(ramp(block * kBlockSamples, kBlockSamples));
        return header;
    };
    std::deque<UsbSend> queue;
    queue.push_back({.bytes = on_wire(header_of(0))});
    queue.push_back({.bytes = ramp(0, kBlockSamples)});
    queue.push_back({.bytes = on_wire(header_of(1))});
    queue.push_back({.bytes = {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(part)}});
    FakeUsb board(board_info(check), kStream, [&]() -> std::optional<UsbSend> {
        if (queue.empty())
            return std::nullopt;
        UsbSend next = std::move(queue.front());
        queue.pop_front();
        return next;
    });
    const SinkAt sink = fake_sink();
    Session session;
    session.add(
        config_of(check == framing::Check::none ? "usb:" : "usb:?check=crc32c", {sink.uri}));
    session.prepare();
    session.start();
    EXPECT_TRUE(eventually([&] { return sink.log->samples == kBlockSamples; }));
    session.stop();
    return {session[0].summary(), sink.log};
}

TEST(UsbRest, AStopDeliversThePacketsThatHaveArrived)
{
    const Stopped stopped = stop_in_a_block(2048);
    EXPECT_FALSE(stopped.summary.error);
    EXPECT_EQ(stopped.log->bytes, ramp(0, kBlockSamples + 512));
    EXPECT_EQ(stopped.summary.stats.gaps.lost_max, 0u);
}

TEST(UsbRest, APartThatItsChecksumCannotVerifyIsMarked)
{
    const Stopped stopped = stop_in_a_block(2048, framing::Check::crc32c);
    EXPECT_EQ(stopped.log->bytes, ramp(0, kBlockSamples + 512));
    ASSERT_EQ(stopped.log->infos.size(), 2u);
    EXPECT_EQ(stopped.log->infos[0].state, BlockState::complete);
    EXPECT_EQ(stopped.log->infos[1].state, BlockState::unverified);
}

} // namespace
