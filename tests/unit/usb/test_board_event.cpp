// SPDX-License-Identifier: MIT
// Events of a board: those that are sent, those that are only counted, and how a host parses
// garbage.
#include "support/temp_dir.hpp"
#include "sys/disk/io_refusal.hpp"
#include "sys/files.hpp"
#include "usb/board/event_sender.hpp"
#include "usb/descriptors.hpp"
#include "usb/host/event_receiver.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;

std::string empty_file(const TempDir& dir)
{
    std::string path = dir / "ep3";
    const std::ofstream file(path);
    return path;
}

/// An endpoint that is a regular file.
class Endpoint {
public:
    std::string sent(const nlohmann::ordered_json& event)
    {
        std::filesystem::resize_file(path_, 0);
        event_sender_.send(event);
        while (!event_sender_.all_read())
            ;
        std::ostringstream text;
        text << std::ifstream(path_).rdbuf();
        return text.str();
    }

private:
    TempDir dir_;
    std::string path_ = empty_file(dir_);
    usb::EventSender event_sender_{path_};
};

TEST(UsbEvents, EscapeSequencesAreMadeHarmless)
{
    const auto event =
        usb::parse_board_event(R"({"event":"er\u0007ror","stream_id":1,"text":"a\u001b[31m\nb"})");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event, "er\\x07ror");
    EXPECT_EQ(event->text, "a\\x1b[31m\\x0ab");
}

TEST(UsbEvents, AStreamIdMustBeAnUnsignedInteger)
{
    for (const char* id : {"-1", "4294967296", "1.5", "\"1\""})
        EXPECT_FALSE(
            usb::parse_board_event(R"({"event":"stop","stream_id":)" + std::string(id) + "}"))
            << id;
}

/// Messages are sent by libaio, as FunctionFS requires.
struct UsbEventsSent : testing::Test {
    void SetUp() override
    {
        if (const sys::IoRefusal aio = sys::aio_refusal(1); aio.error == ENOSYS)
            GTEST_SKIP() << aio.why;
    }
};

TEST_F(UsbEventsSent, EachMessageEndsInAShortPacketAndRoundTrips)
{
    Endpoint endpoint;
    for (std::size_t length = 0; length < 200; ++length) {
        const std::string text = endpoint.sent(
            {{"event", "error"}, {"stream_id", 7}, {"text", std::string(length, 'x')}});
        EXPECT_NE(text.size() % 64, 0u);
        const auto event = usb::parse_board_event(text);
        ASSERT_TRUE(event) << text;
        EXPECT_EQ(event->event, "error");
        EXPECT_EQ(event->stream_id, 7u);
        EXPECT_EQ(event->text, std::string(length, 'x'));
    }
}

TEST_F(UsbEventsSent, ALongTextIsTruncatedToAValidEvent)
{
    Endpoint endpoint;
    for (const char* letter : {"x", "\"", "µ", "\x01", "\xff"}) {
        std::string text;
        for (int i = 0; i < 1000; ++i)
            text += letter;
        const std::string event =
            endpoint.sent({{"event", "error"}, {"stream_id", 7}, {"text", text}});
        EXPECT_LT(event.size(), usb::kLongestEvent);
        ASSERT_TRUE(usb::parse_board_event(event)) << event;
        EXPECT_GT(usb::parse_board_event(event)->text.size(), 30u);
    }
}

TEST(UsbEvents, GarbageIsNotAnEvent)
{
    for (const char* text : {"", "x", "[]", "{}", "{\"event\":1,\"stream_id\":2}",
                             "{\"event\":\"x\"}", "{\"event\":\"x\",\"stream_id\":\"2\"}",
                             "{\"event\":\"x\",\"stream_id\":2,\"text\":3}", "{\"event\":\"x\""})
        EXPECT_FALSE(usb::parse_board_event(text)) << text;
    const std::string good = R"({"event":"error","stream_id":2,"text":"a"})";
    std::mt19937 random(5);
    for (int i = 0; i < 20'000; ++i) {
        std::string bad = good.substr(0, random() % (good.size() + 1));
        for (unsigned n = random() % 4; n > 0 && !bad.empty(); --n)
            bad[random() % bad.size()] = static_cast<char>(random());
        (void)usb::parse_board_event(bad); // neither throws nor reads beyond the end
    }
}

// A full pipe refuses the write immediately, like a disabled endpoint.
TEST_F(UsbEventsSent, MessagesThatTheEndpointRefusedAreCounted)
{
    const TempDir dir;
    const std::string path = dir / "ep3";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const sys::UniqueFd reader = sys::open_file(path, O_RDWR | O_NONBLOCK);
    std::vector<char> page(4096, 'x');
    while (::write(reader.get(), page.data(), page.size()) > 0)
        ;
    usb::EventSender event_sender(path);
    const nlohmann::ordered_json event{{"event", "overflow"}, {"stream_id", 7}};
    for (int i = 0; i < 20; ++i) {
        event_sender.send(event);
        while (!event_sender.all_read())
            ;
    }
    while (::read(reader.get(), page.data(), page.size()) > 0)
        ;
    event_sender.send(event);
    while (!event_sender.all_read())
        ;
    const auto got = ::read(reader.get(), page.data(), page.size());
    ASSERT_GT(got, 0);
    EXPECT_EQ(nlohmann::json::parse(page.begin(), page.begin() + got).at("dropped"), 20);
}

} // namespace
