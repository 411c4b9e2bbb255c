// SPDX-License-Identifier: MIT
// help: what --help prints for commands and endpoints, and the parts of the man page, the shell
// completions and GNU Radio Companion's blocks made from option tables.
#include "cli/commands/complete.hpp"
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
    for (const Command& command : commands()) // verify is both; the endpoint is "verify:"
        if (topic == command.name) {
            if (find_scheme(topic) != nullptr)
                std::printf("(The endpoint of that name: iio-stream help %s:)\n\n", topic.c_str());
            (void)command.run({"--help"});
            return;
        }
    const Scheme* scheme = find_scheme(topic);
    if (scheme == nullptr)
        fail_usage("there is no command or endpoint '" + topic + "'", suggest(topic, topics()));
    std::fputs(help_of(*scheme).c_str(), stdout);
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

// The file, with options in place of the lines that are a mark and a name: `.\" options: iio`.
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
    std::puts(
        "iio-stream moves blocks of samples between IIO devices, USB and files, without the\n"
        "CPU touching a sample if the kernel allows it, and reports the samples that are lost.\n\n"
        "Usage: iio-stream COMMAND [ENDPOINT [KEY=VALUE…]]… [OPTION…]\n\nCommands:");
    for (const Command& command : commands())
        std::printf("  %-8s %s\n", command.name, command.summary);
    std::printf("\nSources:%s\nSinks:  %s\n\n",
                addresses([](auto& s) { return s.source != nullptr; }).c_str(),
                addresses([](auto& s) { return s.sink != nullptr; }).c_str());
    for (const Scheme& scheme : schemes())
        if (scheme.missing)
            std::printf("No %s: %s.\n\n", scheme.name.c_str(), scheme.missing->why.c_str());
    std::puts("See `iio-stream help COMMAND` and `iio-stream help ENDPOINT` (such as iio) for "
              "their options.\n\n"
              "Exit status: 0 done; 2 wrong usage; 3 a device or peer failed; 4 samples lost, or a "
              "limit was exceeded;\n"
              "5 a file failed; 1 anything else.\n\n"
              "Example:\n  iio-stream record sim: capture.sigmf-meta overwrite=on --duration 2s");
}

int help_command(std::vector<std::string> arguments)
{
    if (!arguments.empty() && arguments[0] == "--complete") { // for packaging/completions
        arguments.erase(arguments.begin());
        for (const Candidate& candidate : complete(arguments))
            std::printf("%s\t%s\n", candidate.word.c_str(), candidate.help.c_str());
        return 0;
    }
    if (arguments.size() == 2 &&
        (arguments[0] == "--man" || arguments[0] == "--companion")) { // for the build
        const bool man = arguments[0] == "--man";
        const std::string text = filled(arguments[1], man ? ".\\\" options: " : "    # options: ",
                                        man ? man_options : companion_options);
        std::fputs(text.c_str(), stdout);
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
