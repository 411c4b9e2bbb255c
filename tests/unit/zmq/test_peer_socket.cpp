// SPDX-License-Identifier: MIT
#include "support/eventually.hpp"
#include "support/temp_dir.hpp"
#include "support/zmq_peer.hpp"
#include "zmq/peer_socket.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

void count_release(void*, void* count)
{
    ++*static_cast<std::atomic<int>*>(count);
}

TEST(ZmqPeerSocket, UnreadBlocksOfADepartedPeerAreReturned)
{
    const TempDir dir;
    zmq::Settings settings;
    settings.address = "ipc://" + dir / "samples";
    settings.pattern = "pub";
    settings.bind = true;
    const zmq::Context context;
    sys::FdGroup group;
    zmq::PeerSocket socket(context, settings, {.queue = 100, .timeout_ns = 10'000'000'000}, group);
    auto sub = std::make_unique<Peer>(ZMQ_SUB, settings.address, false, 1);
    const auto heard = [&](auto condition) {
        return eventually([&] {
            socket.poll_events();
            return condition();
        });
    };
    ASSERT_TRUE(heard([&] { return socket.begun() && socket.wanted(); }));

    const std::vector<std::byte> block(1 << 20);
    std::atomic<int> released{0};
    for (int n = 0; n < 20; ++n) {
        zmq::Message message(block, &count_release, &released);
        ASSERT_TRUE(socket.send({}, message));
    }
    EXPECT_LT(released, 20); // the kernel's buffers cannot hold all of them
    sub.reset();
    EXPECT_TRUE(heard([&] { return released == 20; })) << released;
    EXPECT_TRUE(socket.over());
}

} // namespace
