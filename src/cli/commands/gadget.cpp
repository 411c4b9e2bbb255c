// SPDX-License-Identifier: MIT
#include "iio_stream/gadget.hpp"

#include "cli/command.hpp"
#include "cli/output/json.hpp"
#include "cli/output/print.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
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

/// A verb of the command, and what its help says.
struct GadgetVerb {
    const char *name, *description, *example;
};

constexpr std::array kGadgetVerbs{
    GadgetVerb{"up",
               "Sets up this board as a USB device, for the endpoint ffs:. It needs root, a USB\n"
               "device controller and the kernel's libcomposite. It does nothing if the gadget is\n"
               "already up.",
               "iio-stream gadget up"},
    GadgetVerb{"down",
               "Removes the gadget that gadget up has set up. It first ends the programs that\n"
               "stream through it.",
               "iio-stream gadget down"},
    GadgetVerb{"status", "Shows the USB device controllers and the gadgets of this board.",
               "iio-stream gadget status"}};

// Adds the options of a verb; those of all verbs if `verb` is empty.
void add_gadget_options(CLI::App& app, const std::string& verb, GadgetSettings& settings,
                        std::string& id, std::string& json)
{
    const auto is_for = [&](const char* name) { return verb.empty() || verb == name; };
    if (is_for("up") || is_for("down")) {
        app.add_option("--name", settings.name, "name of the gadget in ConfigFS")
            ->type_name("NAME");
        app.add_option("--into", settings.into,
                       verb == "down" ? "an existing gadget to remove the function from"
                       : verb == "up" ? "an existing gadget to add the function to"
                                      : "an existing gadget to add the function to; with down: to "
                                        "remove it from")
            ->type_name("NAME");
    }
    if (is_for("up")) {
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
    }
    if (is_for("status"))
        app.add_flag("--json", json,
                     verb.empty() ? "with status: print one JSON object, or write it to =FILE"
                                  : "print one JSON object, or write it to =FILE");
}

} // namespace

int gadget_command(std::vector<std::string> arguments)
{
    GadgetSettings settings;
    std::string verb, id, json;
    const auto known =
        std::find_if(kGadgetVerbs.begin(), kGadgetVerbs.end(), [&](const GadgetVerb& one) {
            return !arguments.empty() && arguments[0] == one.name;
        });
    if (known != kGadgetVerbs.end()) {
        verb = known->name;
        arguments.erase(arguments.begin());
        Parser parser("gadget " + verb, known->description, known->example);
        add_gadget_options(parser.app(), verb, settings, id, json);
        parser.parse(std::move(arguments));
    } else {
        Parser parser("gadget",
                      "Sets up this board as a USB device (up), removes it (down), or shows its\n"
                      "state (status). Each has a help of its own: iio-stream gadget up --help.",
                      "iio-stream gadget status");
        parser.app()
            .add_option("verb", verb, "what to do")
            ->type_name("up|down|status")
            ->required();
        add_gadget_options(parser.app(), "", settings, id, json);
        parser.parse(std::move(arguments));
    }
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
