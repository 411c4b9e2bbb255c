// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/api.hpp"
#include "iio_stream/device.hpp"

#include <cstdio>

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

void print_device(const DeviceInfo& device)
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
        for (const auto& [option, places] : buffer.tuning)
            for (const std::string& place : places)
                print_line(stdout, "    %-14s %s", (option + "=").c_str(), place.c_str());
        for (const std::string& remark : buffer.remarks)
            print_line(stdout, "    not understood: %s", remark.c_str());
    }
    for (const std::string& remark : device.remarks)
        print_line(stdout, "  not understood: %s", remark.c_str());
    for (const AttributeInfo& a : device.attributes)
        print_text(stdout, "  " + attribute_text(a) + "\n");
}

} // namespace

int info_command(std::vector<std::string> arguments)
{
    Parser parser("info",
                  "Shows IIO devices: channels, formats, attributes and what their buffers "
                  "can do.",
                  "iio-stream info --json");
    std::string name, uri = "local:", json;
    parser.app()
        .add_option("device", name, "name, label or id of one device; default all")
        ->type_name("[DEVICE]");
    parser.app()
        .add_option("--uri", uri, "libiio context: local:, ip:ADDRESS, usb:…")
        ->type_name("URI");
    parser.app().add_flag("--json", json, "print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));

    const std::vector<DeviceInfo> found =
        name.empty() ? devices(uri) : std::vector<DeviceInfo>{device(name, uri)};
    if (!json.empty()) {
        Json all{{"schema", 1}, {"command", "info"}, {"version", kVersion}, {"uri", uri}};
        all["devices"] = Json::array();
        for (const DeviceInfo& device : found)
            all["devices"].push_back(device_json(device));
        print_json(json_text(all), json);
        return 0;
    }
    for (const DeviceInfo& device : found)
        print_device(device);
    if (found.empty())
        print_line(stdout, "no IIO devices in %s (--uri ip:ADDRESS shows those of another machine)",
                   uri.c_str());
    return 0;
}

} // namespace iio_stream::cli
