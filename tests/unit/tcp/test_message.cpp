// SPDX-License-Identifier: MIT
#include "framing/crc32c.hpp"
#include "iio_stream/error.hpp"
#include "tcp/message.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>

namespace {

using namespace iio_stream;
using namespace iio_stream::tcp;

/// Reads a message as it arrives from a socket, in pieces of at most `most` bytes. Bytes after
/// `*used` do not belong to the message.
std::optional<Message> read_in_pieces(std::span<const std::byte> bytes, std::size_t most,
                                      std::size_t* used = nullptr)
{
    MessageReader reader;
    std::size_t at = 0;
    while (at < bytes.size()) {
        const auto room = reader.room();
        const std::size_t now = std::min({room.size(), most, bytes.size() - at});
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), now, room.begin());
        at += now;
        if (used != nullptr)
            *used = at;
        if (auto message = reader.add(now))
            return message;
    }
    return std::nullopt;
}

std::string refusal_of(std::string_view text)
{
    try {
        (void)read_in_pieces(std::as_bytes(std::span(text)), 1000);
    } catch (const Error& error) {
        return error.detail();
    }
    return "";
}

TEST(TcpMessage, TheLayoutIsFixed)
{
    const auto bytes = Message{Kind::offer, "{}"}.encode();
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text.substr(0, 12), std::string("IIOT\1\0\2\0\2\0\0\0", 12));
    EXPECT_EQ(text.substr(16), "{}");
}

TEST(TcpMessage, AMessageInPiecesOfAnySizeIsReadWithoutTheBytesAfterIt)
{
    auto bytes = Message{Kind::request, std::string(5000, 'x')}.encode();
    const std::size_t own = bytes.size();
    bytes.resize(own + 100);
    for (const std::size_t most : {1, 7, 16, 4096, 100000}) {
        std::size_t used = 0;
        const auto message = read_in_pieces(bytes, most, &used);
        ASSERT_TRUE(message) << most;
        EXPECT_EQ(message->text, std::string(5000, 'x'));
        EXPECT_EQ(used, own);
    }
    EXPECT_TRUE(read_in_pieces(Message{Kind::refusal, ""}.encode(), 5));
}

TEST(TcpMessage, AForeignPeerIsDetectedByItsFirstByteAndQuoted)
{
    EXPECT_NE(refusal_of("GET / HTTP/1.1\r\n").find("'GET / HTTP/1.1"), std::string::npos);
    EXPECT_NE(refusal_of("\x1b").find("\\x1b"), std::string::npos);
    EXPECT_EQ(refusal_of("IIO"), ""); // not a mismatch yet
    EXPECT_NE(refusal_of(std::string("IIOT\2\0\1\0\0\0\0\0\0\0\0\0", 16)).find("version 2"),
              std::string::npos);
    EXPECT_NE(refusal_of(std::string("IIOT\1\0\1\0\0\0\0\1\0\0\0\0", 16)), ""); // 16 MiB
    EXPECT_NE(refusal_of(std::string("IIOT\1\0\4\0\0\0\0\0\0\0\0\0", 16)), "");
}

TEST(TcpMessage, EveryBitIsProtected)
{
    const auto whole = Message{Kind::offer, R"({"protocol":1})"}.encode();
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        auto bytes = whole;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        try {
            const auto message = read_in_pieces(bytes, 64);
            EXPECT_TRUE(!message || message->kind != Kind::offer)
                << bit; // a longer message, or one of another kind
        } catch (const Error&) {
        }
    }
}

TEST(TcpMessage, GarbageEndsWithAnError)
{
    std::mt19937 random(7);
    for (int round = 0; round < 10000; ++round) {
        std::vector<std::byte> bytes(random() % 64);
        std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
        if (round % 2 == 0)
            std::copy_n(Message{Kind::request, ""}.encode().begin(),
                        std::min<std::size_t>(bytes.size(), 6), bytes.begin());
        try {
            EXPECT_FALSE(read_in_pieces(bytes, 9) && round % 2 == 1);
        } catch (const Error& error) {
            EXPECT_EQ(error.code().value(), EPROTO);
        }
    }
}

TEST(TcpMessage, AnAckRoundTripsAndNothingElseIsAccepted)
{
    auto bytes = Ack{7, 1ULL << 40}.encode();
    const auto back = Ack::decode(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->stream_id, 7u);
    EXPECT_EQ(back->sequence, 1ULL << 40);
    bytes[0] = std::byte{};
    EXPECT_FALSE(Ack::decode(bytes));
}

TEST(TcpMessage, ARequestRoundTripsAndInvalidTextIsRefused)
{
    const StreamRequest back = StreamRequest::parse(StreamRequest{5, UINT64_MAX}.text(), "it");
    EXPECT_EQ(back.stream_id, 5u);
    EXPECT_EQ(back.sequence, UINT64_MAX);
    for (const char* text :
         {"", "[]", "{}", R"({"stream_id":1})", R"({"stream_id":-1,"sequence":0})",
          R"({"stream_id":4294967296,"sequence":0})", R"({"stream_id":"1","sequence":0})"})
        EXPECT_THROW((void)StreamRequest::parse(text, "it"), Error) << text;
}

} // namespace
