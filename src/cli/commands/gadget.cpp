// SPDX-License-Identifier: MIT
#include "iio_stream/gadget.hpp"

#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/units.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

UsbId parse_id(const std::string& text)
{
    const auto id = parse_usb_id(text);
    if (!id)
        fail_usage("--id " + text + " is not a VID:PID", "such as 1d6b:0104");
    return *id;
}

std::string status_json(const GadgetStatus& status)
{
    Json json{{"schema", 1}, {"command", "gadget"}};
    json["controllers"] = Json::array();
    for (const ControllerInfo& c : status.controllers)
        json["controllers"].push_back({{"name", c.name},
                                       {"state", c.state},
                                       {"speed", c.speed},
                                       {"holder", or_null(c.holder)}});
    json["gadgets"] = Json::array();
    for (const GadgetInfo& g : status.gadgets)
        json["gadgets"].push_back({{"name", g.name},
                                   {"udc", or_null(g.udc)},
                                   {"bound", g.bound},
                                   {"mount", or_null(g.mount)},
                                   {"streamer", or_null(g.streamer)}});
    return json_text(json);
}

void print_status(const GadgetStatus& status)
{
    if (status.controllers.empty())
        print_line(stdout, "no USB device controller");
    for (const ControllerInfo& c : status.controllers)
        print_line(stdout, "controller %s: %s, %s%s%s", c.name.c_str(), c.state.c_str(),
                   c.speed.c_str(), c.holder.empty() ? ", free" : ", held by gadget ",
                   c.holder.c_str());
    for (const GadgetInfo& g : status.gadgets)
        print_line(stdout, "gadget %s on %s: ffs:%s, %s", g.name.c_str(), g.udc.c_str(),
                   g.mount.c_str(),
                   g.streamer.empty() ? "not streaming" : ("streamer " + g.streamer).c_str());
}

} // namespace

int gadget_command(std::vector<std::string> arguments)
{
    Parser parser(
        "gadget",
        "Sets up this board as a USB device (up), removes it (down), or shows its state (status).",
        "iio-stream gadget status");
    GadgetSettings settings;
    std::string verb, id, json;
    CLI::App& app = parser.app();
    app.add_option("verb", verb, "what to do")->type_name("up|down|status")->required();
    app.add_option("--name", settings.name, "name of the gadget in ConfigFS")->type_name("NAME");
    app.add_option("--into", settings.into,
                   "an existing gadget to add the function to; with "
                   "down: to remove it from")
        ->type_name("NAME");
    app.add_option("--udc", settings.udc, "controller (default: the first free one)")
        ->type_name("NAME");
    app.add_option("--id", id, "USB VID:PID (default: 1d6b:0104, for tests only)")
        ->type_name("VID:PID");
    app.add_option("--serial", settings.serial, "USB serial number")->type_name("TEXT");
    app.add_option("--manufacturer", settings.manufacturer, "USB manufacturer string")
        ->type_name("TEXT");
    app.add_option("--product", settings.description, "USB product string")->type_name("TEXT");
    app.add_option("--mount", settings.mount,
                   "mount point of the FunctionFS (default: /run/iio-stream/ffs)")
        ->type_name("FOLDER");
    app.add_flag("--json", json, "with status: print one JSON object, or write it to =FILE");
    parser.parse(std::move(arguments));
    if (!id.empty())
        settings.id = parse_id(id);
    if (verb == "up") {
        if (!gadget_up(settings))
            print_line(stdout, "the gadget is already up");
    } else if (verb == "down") {
        if (!gadget_down(settings.into.empty() ? settings.name : settings.into))
            print_line(stdout, "the gadget is not up");
    } else if (verb != "status") {
        fail_usage("gadget has no verb '" + verb + "'", "use up, down or status");
    } else if (!json.empty()) {
        print_json(status_json(gadget_status()), json);
    } else {
        print_status(gadget_status());
    }
    return 0;
}

} // namespace iio_stream::cli
