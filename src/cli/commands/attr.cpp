// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/device.hpp"

#include <cstdio>

namespace iio_stream::cli {

namespace {

int list(const std::string& path, const std::string& uri)
{
    const std::size_t slash = path.find('/');
    const std::string channel = slash == std::string::npos ? "" : path.substr(slash + 1);
    for (const AttributeInfo& a : device(path.substr(0, slash), uri).attributes)
        if (channel.empty() || a.channel == channel || a.channel == "in_" + channel ||
            a.channel == "out_" + channel)
            print_text(stdout, attribute_text(a) + "\n");
    return 0;
}

} // namespace

int attr_command(std::vector<std::string> arguments)
{
    Parser parser("attr",
                  "Gets, sets or lists attributes: attr get|set|list "
                  "DEVICE[/CHANNEL]/NAME [VALUE].",
                  "iio-stream attr list ad9361-phy");
    std::string verb, path, uri = "local:";
    std::vector<std::string> value;
    parser.app().add_option("verb", verb, "what to do")->type_name("get|set|list")->required();
    parser.app()
        .add_option("path", path, "the attribute; for list, DEVICE or DEVICE/CHANNEL")
        ->type_name("DEVICE[/CHANNEL]/NAME")
        ->required();
    parser.app().add_option("value", value, "the value to set")->type_name("[VALUE]");
    parser.app()
        .add_option("--uri", uri, "libiio context: local:, ip:ADDRESS, usb:…")
        ->type_name("URI");
    parser.parse(std::move(arguments));
    if (const std::size_t most = verb == "set" ? 1 : 0; value.size() > most) {
        for (const std::string& word : value)
            path += "/" + word;
        fail_usage("unexpected argument '" + value[most] + "'",
                   "device, channel and attribute are one word: " + path);
    }
    if (verb == "list")
        return list(path, uri);
    if (verb == "get") {
        print_text(stdout, get_attribute(path, uri) + "\n");
        return 0;
    }
    if (verb != "set")
        fail_usage("attr has no verb '" + verb + "'", "use get, set or list");
    if (value.empty())
        fail_usage("attr set " + path + ": the value is missing");
    print_text(stdout, set_attribute(path, value[0], uri) + "\n"); // read back from the hardware
    return 0;
}

} // namespace iio_stream::cli
