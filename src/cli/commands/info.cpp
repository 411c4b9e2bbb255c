// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/commands/info_scan.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/printable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <sstream>

namespace iio_stream::cli {

namespace {

constexpr const char* kComponents[] = {"real", "in_phase", "quadrature", "counter"};

// "  I" and "  Q"; empty for other components.
const char* component_text(Component component)
{
    return component == Component::in_phase     ? "  I"
           : component == Component::quadrature ? "  Q"
                                                : "";
}

Json buffer_json(const BufferInfo& buffer)
{
    Json json{{"index", buffer.index},
              {"direction", buffer.output ? "out" : "in"},
              {"alignment_bytes", buffer.alignment},
              {"dmabuf", buffer.dmabuf ? Json(*buffer.dmabuf) : Json(nullptr)},
              {"path", or_null(buffer.path)},
              {"reason", or_null(buffer.dmabuf_reason)}};
    json["channels"] = Json::array();
    for (const Channel& channel : buffer.channels)
        json["channels"].push_back(
            {{"id", channel.id},
             {"scan_index", channel.scan_index},
             {"scan_type", channel.type.text()},
             {"component", kComponents[static_cast<int>(channel.component)]}});
    json["remarks"] = buffer.remarks;
    json["tuning"] = Json::object();
    for (const auto& [option, places] : buffer.tuning)
        json["tuning"][option] = places;
    return json;
}

Json device_json(const DeviceInfo& device)
{
    Json json{{"id", device.id}, {"name", or_null(device.name)}, {"label", or_null(device.label)}};
    json["sample_rate"] = device.sample_rate > 0 ? Json(device.sample_rate) : Json(nullptr);
    json["buffers"] = Json::array();
    for (const BufferInfo& buffer : device.buffers)
        json["buffers"].push_back(buffer_json(buffer));
    json["attributes"] = Json::array();
    for (const AttributeInfo& a : device.attributes)
        json["attributes"].push_back({{"channel", or_null(a.channel)},
                                      {"name", a.name},
                                      {"value", a.error.empty() ? Json(a.value) : Json(nullptr)},
                                      {"error", or_null(a.error)}});
    json["remarks"] = device.remarks;
    return json;
}

// Describes how a buffer streams, such as "DMABUFs", or why this is not known.
const char* path_text(const BufferInfo& buffer)
{
    return !buffer.dmabuf               ? "in use"
           : buffer.path == "dmabuf"    ? "DMABUFs"
           : buffer.path == "mmap"      ? "the kernel's blocks"
           : buffer.path == "fileio"    ? buffer.output ? "write()" : "read()"
           : buffer.dmabuf_reason == "" ? "not tested"
                                        : buffer.dmabuf_reason.c_str();
}

std::string channels_text(const std::vector<Channel>& channels)
{
    const auto pairs = static_cast<std::uint64_t>(
        std::ranges::count(channels, Component::in_phase, &Channel::component));
    std::string text = counted(channels.size(), "channel");
    if (pairs != 0)
        text += " (" + counted(pairs, "I/Q pair") + ")";
    return text;
}

/// A row of the list of devices.
using DeviceRow = std::array<std::string, 5>;

// One row for each buffer of a device, or one for a device without buffers.
void add_rows(std::vector<DeviceRow>& rows, const DeviceInfo& device)
{
    const std::string name = device.name + (device.label.empty() ? "" : " (" + device.label + ")");
    for (const BufferInfo& buffer : device.buffers) {
        const bool first = &buffer == &device.buffers.front();
        std::string what = buffer.output ? "DAC" : "ADC";
        if (device.buffers.size() > 1)
            what += ", buffer " + std::to_string(buffer.index);
        std::string rate = device.sample_rate > 0 ? human_count(device.sample_rate) + "S/s" : "";
        rows.push_back({first ? device.id : "", first ? name : "",
                        what + ", " + channels_text(buffer.channels), rate, path_text(buffer)});
    }
    if (device.buffers.empty())
        rows.push_back({device.id, name, counted(device.attributes.size(), "attribute"), "", ""});
}

void print_list(const std::vector<DeviceInfo>& devices)
{
    std::vector<DeviceRow> rows;
    for (const DeviceInfo& device : devices)
        add_rows(rows, device);
    std::array<std::size_t, std::tuple_size_v<DeviceRow>> widths{};
    for (const DeviceRow& row : rows)
        for (std::size_t column = 0; column < row.size(); ++column)
            widths[column] = std::max(widths[column], row[column].size());
    for (const DeviceRow& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column)
            line += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        print_text(stdout, line + "\n");
    }
    for (const DeviceInfo& device : devices)
        for (const std::string& remark : device.remarks)
            print_line(stdout, "%s: not understood: %s", device.name.c_str(), remark.c_str());
}

std::optional<double> number_of(const std::string& text)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

// Formats a number with its unit, and leaves any other value unchanged.
std::string value_text(const std::string& option, const std::string& value)
{
    const std::optional<double> number = number_of(value);
    if (!number || option == "agc" || option == "antenna")
        return value;
    if (option == "gain")
        return formatted("%g", *number) + " dB";
    const std::string sign = *number < 0 ? "-" : "";
    return sign + human_count(std::abs(*number)) + (option == "rate" ? "S/s" : "Hz");
}

// Formats the values that an attribute accepts, which the driver lists as "[MIN STEP MAX]" or as
// separate words.
std::string range_text(const std::string& option, std::string available)
{
    if (!available.starts_with('['))
        return available;
    std::istringstream words(available.substr(1, available.find(']') - 1));
    std::string least, step, most;
    words >> least >> step >> most;
    return value_text(option, least) + " to " + value_text(option, most);
}

// Returns the value of an attribute of the device or of its front end. `info` has the values of the
// device's own attributes.
std::string value_of(const DeviceInfo& info, const Device& device, const std::string& attribute)
try {
    const std::string owner = (info.name.empty() ? info.id : info.name) + "/";
    for (const AttributeInfo& own : info.attributes)
        if (attribute == owner + (own.channel.empty() ? "" : own.channel + "/") + own.name)
            return printable(own.value);
    return printable(device.get(attribute));
} catch (const Error&) {
    return ""; // it does not exist, or cannot be read now
}

// Prints the settings of the front end, each with its value, its range and its attribute.
void print_settings(const DeviceInfo& info, const BufferInfo& buffer, const Device& device)
{
    for (const auto& [option, places] : buffer.tuning)
        for (const std::string& place : places) {
            const std::string value = value_text(option, value_of(info, device, place));
            const std::string range =
                range_text(option, value_of(info, device, place + "_available"));
            print_line(stdout, "    %-14s %-14s %-28s %s", (option + "=").c_str(), value.c_str(),
                       range.c_str(), place.c_str());
        }
}

void print_device(const DeviceInfo& device, const Device* settings)
{
    print_line(stdout, "%s  %s%s%s", device.id.c_str(), device.name.c_str(),
               device.label.empty() ? "" : "  label ", device.label.c_str());
    for (const BufferInfo& buffer : device.buffers) {
        const std::string reason =
            buffer.dmabuf_reason.empty() ? "" : " (" + buffer.dmabuf_reason + ")";
        print_line(stdout, "  buffer %d, %s: %s%s; blocks in multiples of %zu bytes", buffer.index,
                   buffer.output ? "output" : "input",
                   buffer.path == "dmabuf"   ? "takes DMABUFs"
                   : buffer.path == "mmap"   ? "path=mmap"
                   : buffer.path == "fileio" ? "read() and write() only"
                                             : "unknown whether it takes DMABUFs",
                   reason.c_str(), buffer.alignment);
        for (const Channel& channel : buffer.channels)
            print_line(stdout, "    %-14s %s%s", channel.id.c_str(), channel.type.text().c_str(),
                       component_text(channel.component));
        if (settings != nullptr)
            print_settings(device, buffer, *settings);
        else
            for (const auto& [option, places] : buffer.tuning)
                for (const std::string& place : places)
                    print_line(stdout, "    %-14s %s", (option + "=").c_str(), place.c_str());
        for (const std::string& remark : buffer.remarks)
            print_line(stdout, "    not understood: %s", remark.c_str());
    }
    for (const std::string& remark : device.remarks)
        print_line(stdout, "  not understood: %s", remark.c_str());
    if (settings != nullptr && !device.buffers.empty())
        return;
    for (const AttributeInfo& a : device.attributes)
        print_text(stdout, "  " + attribute_text(a) + "\n");
}

} // namespace

int info_command(std::vector<std::string> arguments)
{
    Parser parser(
        "info",
        "Lists the IIO devices, or shows one of them: its channels, formats and settings. "
        "--all adds every attribute.",
        "iio-stream info");
    std::string name, uri = "local:", json;
    bool all = false, scan = false;
    parser.app()
        .add_option("device", name, "name, label or id of one device; default: a list")
        ->type_name("[DEVICE]");
    parser.app()
        .add_option("--uri", uri, "libiio context: local:, ip:ADDRESS, usb:…")
        ->type_name("URI");
    parser.app().add_flag("--all", all, "show every attribute");
    parser.app().add_flag("--scan", scan,
                          "look for boards on USB and on the network, and print the endpoints of "
                          "each; --uri names one more address");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));

    if (scan) {
        if (!name.empty() || all || !json.empty())
            fail_usage("--scan takes no device, no --all and no --json",
                       "iio-stream info --uri URI DEVICE shows a device that it found");
        return scan_for_boards(uri == "local:" ? "" : uri);
    }
    std::optional<Device> one;
    if (!name.empty())
        one.emplace(name, uri);
    const std::vector<DeviceInfo> found = one ? std::vector{one->info()} : devices(uri);
    if (!json.empty()) {
        Json object{{"schema", 1}, {"command", "info"}, {"version", kVersion}, {"uri", uri}};
        object["devices"] = Json::array();
        for (const DeviceInfo& device : found)
            object["devices"].push_back(device_json(device));
        print_json(json_text(object), json);
        return 0;
    }
    if (all) {
        for (const DeviceInfo& device : found)
            print_device(device, nullptr);
    } else if (name.empty()) {
        print_list(found);
    } else {
        print_device(found.front(), &*one);
    }
    if (found.empty())
        print_line(stdout,
                   "no IIO devices in %s (--uri ip:ADDRESS shows those of another machine, "
                   "--scan looks for boards)",
                   uri.c_str());
    return 0;
}

} // namespace iio_stream::cli
