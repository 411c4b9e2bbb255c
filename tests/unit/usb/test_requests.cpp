// SPDX-License-Identifier: MIT
// Requests of the host that the board never completes.
#include "framing/info.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"
#include "support/fake_usb.hpp"
#include "support/usb_sender.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <thread>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using namespace std::chrono_literals;

std::string both_ways()
{
    framing::StreamShape shape;
    shape.format = Format::parse("ci16_le");
    shape.format.sample_rate = 1e6;
    shape.wire_bytes = kBlock;
    return framing::info_json({shape, shape, "0"}, {});
}

/// Returns the error of a session that is stopped while START is in progress.
int stopped_in_start(const std::string& source, const std::string& sink)
{
    FakeUsb board(both_ways(), kStream, [] { return std::nullopt; });
    board.hang_starts();
    Session session;
    session.add(config_of(source, {sink}));
    session.prepare();
    std::thread user([&] {
        while (board.starts() == 0)
            std::this_thread::sleep_for(1ms);
        session.request_stop();
    });
    int error = 0;
    try {
        session.start();
        (void)session.wait(20s);
    } catch (const Error& e) {
        error = e.code().value();
    }
    user.join();
    EXPECT_GE(board.stops(), 1); // the board can have received START anyway
    return error;
}

TEST(UsbRequests, AStopCancelsTheFirstStartOfAStreamToTheHost)
{
    EXPECT_EQ(stopped_in_start("usb:", fake_sink().uri), ECANCELED);
}

TEST(UsbRequests, AStopCancelsTheFirstStartOfAStreamToTheBoard)
{
    EXPECT_EQ(stopped_in_start("sim:?rate=1M", "usb:"), ECANCELED);
}

} // namespace
