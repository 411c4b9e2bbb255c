// SPDX-License-Identifier: MIT
#include "framing/info.hpp"

#include "core/base/text.hpp"
#include "core/format/format_options.hpp"
#include "framing/header.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>

namespace iio_stream::framing {

namespace {

constexpr std::size_t kMostChannels = 64;
constexpr std::size_t kMostWireBytes = std::size_t{1} << 26; ///< limited because the host allocates
                                                             ///< many blocks
constexpr std::uint64_t kMostIndex = 65535;                  ///< maximum index of a scan element
constexpr double kMostRate = 1e12;
constexpr const char* kComponents[] = {"real", "i", "q", "counter"};

/// Why a text is not a valid description of a stream.
struct Refusal {
    std::string why;
};

[[noreturn]] void refuse(std::string why)
{
    throw Refusal{std::move(why)};
}

/// Returns a whole number from 0 to `most`. The conversions of the JSON library would accept any
/// number.
std::uint64_t count_of(const nlohmann::json& json, const char* name, std::uint64_t most)
{
    const auto& value = json.at(name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
        refuse(std::string(name) + " is not a whole number up to " + std::to_string(most));
    return value.get<std::uint64_t>();
}

std::string words_of(const nlohmann::json& value)
{
    return detail::printable(value.get<std::string>());
}

std::string words_of(const nlohmann::json& json, const char* name)
{
    return json.contains(name) ? words_of(json.at(name)) : "";
}

Component component_of(const std::string& name)
{
    for (std::size_t i = 0; i < std::size(kComponents); ++i)
        if (name == kComponents[i])
            return static_cast<Component>(i);
    refuse("'" + name + "' is not a component of a sample");
}

Channel channel_of(const nlohmann::json& json)
{
    Channel channel;
    channel.id = words_of(json.at("id"));
    try {
        channel.type = ScanType::parse(json.at("type").get<std::string>());
    } catch (const Error& error) {
        refuse(error.what());
    }
    channel.scan_index = static_cast<unsigned>(count_of(json, "index", kMostIndex));
    channel.component = component_of(json.at("component").get<std::string>());
    return channel;
}

Tuning tuning_of(const nlohmann::json& json)
{
    Tuning tuning;
    for (const auto& [name, value] : kTuningNumbers)
        if (json.contains(name))
            tuning.*value = json.at(name).get<double>();
    tuning.antenna = words_of(json, "antenna");
    tuning.agc = words_of(json, "agc");
    tuning.hardware = words_of(json, "hardware");
    return tuning;
}

Check check_of(const nlohmann::json& json)
{
    const std::string name = words_of(json, "check");
    if (!name.empty() && name != kCrc32c)
        refuse("its blocks have the unknown checksum " + name);
    return name.empty() ? Check::none : Check::crc32c;
}

StreamShape shape_of(const nlohmann::json& json)
{
    StreamShape shape;
    const auto& channels = json.at("channels");
    if (!channels.is_array() || channels.empty() || channels.size() > kMostChannels)
        refuse("a stream must have 1 to 64 channels");
    for (const auto& channel : channels)
        shape.format.channels.push_back(channel_of(channel));
    shape.format.lay_out();
    shape.format.sample_rate = json.at("sample_rate").get<double>();
    shape.wire_bytes = static_cast<std::size_t>(count_of(json, "wire_bytes", kMostWireBytes));
    shape.source = words_of(json, "source");
    for (const auto& name : json.value("attributes", nlohmann::json::array()))
        shape.attributes.push_back(words_of(name));
    if (json.contains("tuning"))
        shape.tuning = tuning_of(json.at("tuning"));
    shape.check = check_of(json);
    if (!(shape.format.sample_rate >= 0 && shape.format.sample_rate <= kMostRate))
        refuse("its sample rate is not valid");
    if (shape.wire_bytes == 0 || shape.wire_bytes % kPacketBytes != 0 ||
        shape.wire_bytes < shape.format.sample_bytes)
        refuse("blocks of " + std::to_string(shape.wire_bytes) + " bytes are not valid");
    return shape;
}

PeerInfo info_of(const nlohmann::json& json)
{
    if (count_of(json, "protocol", UINT64_MAX) != 1)
        refuse("its protocol version is " + json.at("protocol").dump());
    PeerInfo info;
    info.version = words_of(json.at("version"));
    if (json.contains("clock")) {
        constexpr auto kLast = static_cast<std::uint64_t>(INT64_MAX);
        const auto& clock = json.at("clock");
        info.clocks = {static_cast<std::int64_t>(count_of(clock, "monotonic_ns", kLast)),
                       static_cast<std::int64_t>(count_of(clock, "realtime_ns", kLast))};
    }
    if (json.contains("to_host"))
        info.to_host = shape_of(json.at("to_host"));
    if (json.contains("to_board"))
        info.to_board = shape_of(json.at("to_board"));
    return info;
}

std::string blocks_of(const StreamShape& shape)
{
    return format_size(shape.wire_bytes) + " at " +
           std::to_string(std::llround(shape.format.sample_rate)) + " Hz";
}

nlohmann::ordered_json json_of(const Tuning& tuning)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [name, value] : kTuningNumbers)
        if (tuning.*value)
            json[name] = *(tuning.*value);
    if (!tuning.antenna.empty())
        json["antenna"] = tuning.antenna;
    if (!tuning.agc.empty())
        json["agc"] = tuning.agc;
    if (!tuning.hardware.empty())
        json["hardware"] = tuning.hardware;
    return json;
}

nlohmann::ordered_json json_of(const StreamShape& shape)
{
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!shape.source.empty())
        json["source"] = shape.source;
    if (const auto tuning = json_of(shape.tuning); !tuning.empty())
        json["tuning"] = tuning;
    if (!shape.attributes.empty())
        json["attributes"] = shape.attributes;
    json["sample_rate"] = shape.format.sample_rate;
    json["wire_bytes"] = shape.wire_bytes;
    if (shape.check == Check::crc32c)
        json["check"] = kCrc32c;
    json["channels"] = nlohmann::ordered_json::array();
    for (const Channel& channel : shape.format.channels)
        json["channels"].push_back(
            {{"id", channel.id},
             {"type", channel.type.text()},
             {"index", channel.scan_index},
             {"component", kComponents[static_cast<std::size_t>(channel.component)]}});
    return json;
}

} // namespace

void check_same_shape(const StreamShape& now, const StreamShape& before, const std::string& peer)
{
    detail::require_same_layout(before.format, now.format, peer);
    if (now.wire_bytes != before.wire_bytes || now.format.sample_rate != before.format.sample_rate)
        fail_usage(peer + " has reconnected with another block size or sample rate: " +
                   blocks_of(now) + "; previously " + blocks_of(before));
    if (now.check != before.check)
        fail_usage(peer + " has reconnected " + (now.check == Check::none ? "without" : "with") +
                   " checksums of its blocks, unlike before");
}

void require_checksum(Check wanted, const StreamShape& shape, const std::string& peer,
                      const std::string& there)
{
    if (wanted != Check::none && shape.check != wanted)
        fail_usage("check=" + std::string(kCrc32c) + ": " + peer +
                       " is not set to use checksums of its blocks",
                   there + " check=" + std::string(kCrc32c));
}

std::string info_json(const PeerInfo& info, const PeerClocks& clocks)
{
    nlohmann::ordered_json json{
        {"protocol", 1},
        {"version", info.version},
        {"clock", {{"monotonic_ns", clocks.monotonic_ns}, {"realtime_ns", clocks.realtime_ns}}}};
    if (info.to_host)
        json["to_host"] = json_of(*info.to_host);
    if (info.to_board)
        json["to_board"] = json_of(*info.to_board);
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

PeerInfo parse_info(const std::string& text, const std::string& object)
{
    const auto fail = [&](const std::string& why) {
        throw Error(Fault::device, EPROTO, "read", object, why,
                    "both ends must speak the same version of the protocol");
    };
    PeerInfo info;
    try {
        info = info_of(nlohmann::json::parse(text));
    } catch (const nlohmann::json::exception& error) {
        fail(error.what());
    } catch (const Refusal& refusal) {
        fail(refusal.why);
    }
    return info;
}

} // namespace iio_stream::framing
