// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
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
            std::printf("%s%s%s = %s\n", a.channel.c_str(), a.channel.empty() ? "" : "/",
                        a.name.c_str(), a.error.empty() ? a.value.c_str() : ("? " + a.error).c_str());
    return 0;
}

} // namespace

int attr_command(std::vector<std::string> arguments)
{
    Parser parser("attr", "Gets, sets or lists attributes: attr get|set|list "
                          "DEVICE[/CHANNEL]/NAME [VALUE].",
                  "iio-stream attr list iios-sim-adc");
    std::string verb, path, value, uri = "local:";
    parser.app().add_option("verb", verb, "get, set or list")->required();
    parser.app().add_option("path", path, "DEVICE[/CHANNEL]/NAME; for list DEVICE[/CHANNEL]")
        ->required();
    CLI::Option* given = parser.app().add_option("value", value, "for set");
    parser.app().add_option("--uri", uri, "libiio context: local:, ip:ADDRESS, usb:…")
        ->type_name("URI");
    parser.parse(std::move(arguments));
    if (verb == "list")
        return list(path, uri);
    if (verb == "get") {
        std::printf("%s\n", get_attribute(path, uri).c_str());
        return 0;
    }
    if (verb != "set")
        fail_usage("attr has no verb '" + verb + "'", "use get, set or list");
    if (given->empty())
        fail_usage("attr set " + path + ": the value is missing");
    std::printf("%s\n", set_attribute(path, value, uri).c_str()); // read back from the hardware
    return 0;
}

} // namespace iio_stream::cli
