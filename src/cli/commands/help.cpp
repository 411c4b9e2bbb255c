// SPDX-License-Identifier: MIT
// help: prints the help of commands and endpoints, and generates the parts of the man page, the
// shell completions and GNU Radio Companion's blocks that come from option tables.
#include "cli/commands/complete.hpp"
#include "cli/output/print.hpp"
#include "cli/parsing/option_text.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace iio_stream::cli {

namespace {

std::string addresses(bool (*can)(const Scheme&))
{
    std::string list;
    for (const Scheme& scheme : schemes())
        if (can(scheme))
            list += " " + address_of(scheme);
    return list;
}

const Scheme* find_scheme(std::string_view name)
{
    name = name.substr(0, name.find(':')); // iio:cf-ad9361-lpc
    const auto at = std::find_if(schemes().begin(), schemes().end(),
                                 [&](const Scheme& scheme) { return scheme.name == name; });
    return at == schemes().end() ? nullptr : &*at;
}

std::vector<std::string> topics()
{
    std::vector<std::string> names;
    for (const Command& command : commands())
        names.emplace_back(command.name);
    for (const Scheme& scheme : schemes())
        names.push_back(scheme.name);
    return names;
}

void print_topic(const std::string& topic)
{
    for (const Command& command : commands()) // "verify" is also an endpoint, "verify:"
        if (topic == command.name) {
            if (find_scheme(topic) != nullptr)
                print_text(stdout,
                           "(For the endpoint of that name: iio-stream help " + topic + ":)\n\n");
            (void)command.run({"--help"});
            return;
        }
    const Scheme* scheme = find_scheme(topic);
    if (scheme == nullptr)
        fail_usage("there is no command or endpoint '" + topic + "'", suggest(topic, topics()));
    print_text(stdout, help_of(*scheme));
}

std::string man_options(const std::string& name)
{
    const Scheme* scheme = find_scheme(name);
    if (scheme == nullptr && name != "every endpoint")
        fail_usage("there is no endpoint '" + name + ":'");
    return mdoc_list(scheme == nullptr ? common_options() : scheme->options);
}

std::string companion_options(const std::string& side)
{
    return yaml_list(side == "source" ? OptionSide::source : OptionSide::sink);
}

// Returns the file's text. A line that consists of the mark and a name, such as `.\" options: iio`,
// is replaced with the options of that name.
std::string filled(const std::string& path, std::string_view mark,
                   std::string (*options)(const std::string&))
{
    std::ifstream file(path);
    if (!file)
        throw Error(Fault::storage, errno, "open", path);
    std::string text;
    for (std::string line; std::getline(file, line);)
        text += line.starts_with(mark) ? options(line.substr(mark.size())) : line + "\n";
    return text;
}

} // namespace

void print_help()
{
    print_text(
        stdout,
        "iio-stream moves blocks of samples between IIO devices, USB and files, without the\n"
        "CPU touching a sample if the kernel allows it, and reports the samples that are lost.\n\n"
        "Usage: iio-stream COMMAND [ENDPOINT [KEY=VALUE…]]… [OPTION…]\n\nCommands:\n");
    for (const Command& command : commands())
        print_line(stdout, "  %-8s %s", command.name, command.summary);
    print_text(stdout, "\nSources:" + addresses([](auto& s) { return s.source != nullptr; }) +
                           "\nSinks:  " + addresses([](auto& s) { return s.sink != nullptr; }) +
                           "\n\n");
    for (const Scheme& scheme : schemes())
        if (scheme.missing)
            print_text(stdout, "No " + scheme.name + ": " + scheme.missing->why + ".\n\n");
    print_text(
        stdout,
        "See `iio-stream help COMMAND` and `iio-stream help ENDPOINT` (such as iio) for "
        "their options.\n\n"
        "Exit status: 0 done; 2 wrong usage; 3 a device or peer failed; 4 samples lost, or a "
        "limit was exceeded;\n"
        "5 a file failed; 1 anything else.\n\n"
        "Example:\n  iio-stream record sim: capture.sigmf-meta overwrite=on --duration 2s\n");
}

int help_command(std::vector<std::string> arguments)
{
    if (!arguments.empty() && arguments[0] == "--complete") { // for packaging/completions
        arguments.erase(arguments.begin());
        for (const Candidate& candidate : complete(arguments))
            print_text(stdout, candidate.word + "\t" + candidate.help + "\n");
        return 0;
    }
    if (arguments.size() == 2 &&
        (arguments[0] == "--man" || arguments[0] == "--companion")) { // for the build
        const bool man = arguments[0] == "--man";
        const std::string text = filled(arguments[1], man ? ".\\\" options: " : "    # options: ",
                                        man ? man_options : companion_options);
        print_text(stdout, text);
        return 0;
    }
    Parser parser("help", "Explains a command, or an endpoint with all its options.",
                  "iio-stream help iio");
    std::string topic;
    parser.app()
        .add_option("topic", topic, "a command, or an endpoint such as iio")
        ->type_name("COMMAND|ENDPOINT");
    parser.parse(std::move(arguments));
    if (topic.empty())
        print_help();
    else
        print_topic(topic);
    return 0;
}

} // namespace iio_stream::cli
