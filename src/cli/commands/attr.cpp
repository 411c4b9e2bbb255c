// SPDX-License-Identifier: MIT
#include "cli/command.hpp"
#include "cli/output/print.hpp"
#include "cli/output/summary_text.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/units.hpp"

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>

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

// Returns the text to write for a value of the command line: the content of FILE for "@FILE", and
// whole hertz for "2.4G" if the attribute is a number.
std::string written_value(const Device& device, const std::string& path, const std::string& value)
{
    if (value.starts_with('@')) {
        std::ifstream file(value.substr(1), std::ios::binary);
        if (!file)
            throw Error(Fault::storage, errno, "open", value.substr(1));
        std::string content{std::istreambuf_iterator<char>(file), {}};
        if (file.bad())
            throw Error(Fault::storage, EIO, "read", value.substr(1));
        if (content.empty()) // the kernel would ignore the write
            throw Error(Fault::storage, ENODATA, "read", value.substr(1), "it is empty");
        return content;
    }
    if (value.find_first_of("kMG") == std::string::npos ||
        !std::isdigit(static_cast<unsigned char>(value.front())))
        return value;
    const std::string now = device.get(path);
    double number = 0;
    if (std::from_chars(now.data(), now.data() + now.size(), number).ec != std::errc())
        return value;
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.0f", parse_rate(path, value));
    return text.data();
}

// Returns the value that was read back from the hardware.
std::string set(const std::string& path, const std::string& value, const std::string& uri)
{
    const std::size_t slash = path.find('/');
    if (slash == std::string::npos)
        return set_attribute(path, value, uri); // throws: the path does not name a device
    Device device(path.substr(0, slash), uri);
    return device.set(path, written_value(device, path, value));
}

} // namespace

int attr_command(std::vector<std::string> arguments)
{
    Parser parser(
        "attr",
        "Gets, sets or lists attributes: attr get|set|list DEVICE[/CHANNEL]/NAME [VALUE]. "
        "The parts of the path can also be separate words. A VALUE can have a suffix k, M "
        "or G if the attribute is a number; @FILE stands for the content of FILE.",
        "iio-stream attr list ad9361-phy");
    std::string verb, uri = "local:";
    std::vector<std::string> words;
    parser.app().add_option("verb", verb, "what to do")->type_name("get|set|list")->required();
    parser.app()
        .add_option("words", words,
                    "the attribute, and the value to set; for list, DEVICE or DEVICE/CHANNEL")
        ->type_name("DEVICE[/CHANNEL]/NAME [VALUE]")
        ->required();
    parser.app()
        .add_option("--uri", uri, "libiio context: local:, ip:ADDRESS, usb:…")
        ->type_name("URI");
    parser.parse(std::move(arguments));
    if (verb != "list" && verb != "get" && verb != "set")
        fail_usage("attr has no verb '" + verb + "'", "use get, set or list");
    std::optional<std::string> value;
    if (verb == "set" && words.size() > 1) {
        value = words.back();
        words.pop_back();
    }
    std::string path = words[0];
    for (std::size_t i = 1; i < words.size(); ++i)
        path += "/" + words[i];
    if (verb == "list")
        return list(path, uri);
    if (verb == "get") {
        print_text(stdout, get_attribute(path, uri) + "\n");
        return 0;
    }
    if (!value)
        fail_usage("attr set " + path + ": the value is missing");
    print_text(stdout, set(path, *value, uri) + "\n");
    return 0;
}

} // namespace iio_stream::cli
