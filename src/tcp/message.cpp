// SPDX-License-Identifier: MIT
#include "tcp/message.hpp"

#include "core/base/text.hpp"
#include "framing/bytes.hpp"
#include "framing/crc32c.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace iio_stream::tcp {

namespace {

using framing::get_number;

constexpr std::uint32_t kMessageMagic = 0x544f4949; // "IIOT"
constexpr std::uint32_t kAckMagic = 0x414f4949;     // "IIOA"
constexpr unsigned kProtocol = 1;
constexpr std::size_t kPreamble = 16; ///< magic, version, kind, length, CRC-32C of the text
constexpr std::size_t kLongestText = 64 << 10;
constexpr std::size_t kShown = 24; ///< bytes of a foreign protocol that the error shows

[[noreturn]] void fail_foreign(std::span<const std::byte> came)
{
    const auto shown = came.first(std::min(came.size(), kShown));
    throw Error(Fault::device, EPROTO, "receive from", "a peer",
                "it uses another protocol, starting with '" +
                    detail::printable({reinterpret_cast<const char*>(shown.data()), shown.size()}) +
                    "'",
                "the other end must be a tcp: endpoint of iio-stream");
}

bool begins_right(std::span<const std::byte> came)
{
    for (std::size_t i = 0; i < std::min(came.size(), std::size_t{4}); ++i)
        if (came[i] != static_cast<std::byte>(kMessageMagic >> (8 * i)))
            return false;
    return true;
}

} // namespace

std::vector<std::byte> Message::encode() const
{
    framing::ByteWriter body;
    body.text(text);
    framing::ByteWriter all;
    all.u32(kMessageMagic).u16(kProtocol).u16(static_cast<unsigned>(kind)).u32(text.size());
    all.u32(framing::crc32c(body.bytes())).append(body.bytes());
    return all.bytes();
}

std::span<std::byte> MessageReader::room()
{
    if (bytes_.empty())
        bytes_.resize(kPreamble);
    return std::span(bytes_).subspan(filled_);
}

std::optional<Message> MessageReader::add(std::size_t bytes)
{
    filled_ += bytes;
    const auto came = std::span<const std::byte>(bytes_).first(filled_);
    if (!begins_right(came))
        fail_foreign(came);
    if (filled_ < kPreamble)
        return std::nullopt;
    const auto kind = get_number(bytes_.data() + 6, 2), length = get_number(bytes_.data() + 8, 4);
    if (get_number(bytes_.data() + 4, 2) != kProtocol)
        throw Error(Fault::device, EPROTO, "receive from", "a peer",
                    "it uses protocol version " + std::to_string(get_number(bytes_.data() + 4, 2)),
                    "both ends need the same version of iio-stream");
    if (kind < 1 || kind > 3 || length > kLongestText)
        fail_foreign(came);
    if (bytes_.size() == kPreamble && length != 0)
        bytes_.resize(kPreamble + static_cast<std::size_t>(length));
    if (filled_ < kPreamble + length)
        return std::nullopt;
    const auto text = came.subspan(kPreamble);
    if (framing::crc32c(text) != get_number(bytes_.data() + 12, 4))
        fail_foreign(came);
    return Message{static_cast<Kind>(kind),
                   {reinterpret_cast<const char*>(text.data()), text.size()}};
}

std::array<std::byte, Ack::kBytes> Ack::encode() const noexcept
{
    std::array<std::byte, kBytes> bytes{};
    framing::put_number(bytes.data(), kAckMagic, 4);
    framing::put_number(bytes.data() + 4, stream_id, 4);
    framing::put_number(bytes.data() + 8, sequence, 8);
    return bytes;
}

std::optional<Ack> Ack::decode(std::span<const std::byte, kBytes> bytes) noexcept
{
    if (get_number(bytes.data(), 4) != kAckMagic)
        return std::nullopt;
    return Ack{static_cast<std::uint32_t>(get_number(bytes.data() + 4, 4)),
               get_number(bytes.data() + 8, 8)};
}

std::string StreamRequest::text() const
{
    return nlohmann::ordered_json{
        {"version", kVersion}, {"stream_id", stream_id}, {"sequence", sequence}}
        .dump();
}

StreamRequest StreamRequest::parse(const std::string& text, const std::string& object)
{
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const auto number = [&](const char* name, std::uint64_t most) {
        if (!json.is_object() || !json.contains(name) || !json[name].is_number_unsigned() ||
            json[name].get<std::uint64_t>() > most)
            throw Error(Fault::device, EPROTO, "read", object,
                        std::string(name) + " is missing or not a valid number",
                        "both ends must speak the same version of the protocol");
        return json[name].get<std::uint64_t>();
    };
    return {static_cast<std::uint32_t>(number("stream_id", UINT32_MAX)),
            number("sequence", UINT64_MAX)};
}

} // namespace iio_stream::tcp
