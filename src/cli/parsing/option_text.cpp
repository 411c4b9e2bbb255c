// SPDX-License-Identifier: MIT
#include "cli/parsing/option_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace iio_stream::cli {

namespace {

std::vector<Option> only_for(const std::vector<Option>& options, OptionSide side)
{
    std::vector<Option> chosen;
    std::copy_if(options.begin(), options.end(), std::back_inserter(chosen),
                 [&](const Option& option) { return option.side == side; });
    return chosen;
}

std::string explained(const std::string& title, const std::vector<Option>& options)
{
    if (options.empty())
        return "";
    std::string text = "\n" + title + ":\n";
    for (const Option& option : options)
        text += "  " + usage_of(option) + "\n        " + std::string(option.help) + "\n        (" +
                unit_and_default(option) + ")\n";
    return text;
}

std::string brief(const Option& option, bool name_side)
{
    std::string usage = usage_of(option);
    // The width is in characters, not in bytes: "…" has three bytes.
    const auto width =
        static_cast<std::size_t>(std::count_if(usage.begin(), usage.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
        }));
    constexpr std::size_t kColumn = 40;
    usage.append(width < kColumn ? kColumn - width : 1, ' ');
    std::string text = "    " + usage + unit_and_default(option);
    if (name_side && option.side != OptionSide::both)
        text += option.side == OptionSide::source ? " (source)" : " (sink)";
    return text + "\n";
}

// Replaces "…", which is not ASCII. The text must not begin with "…", because a dot at the start of
// a line begins a macro in mdoc.
std::string mdoc(std::string text)
{
    for (std::size_t at = 0; (at = text.find("…", at)) != std::string::npos;)
        text.replace(at, std::string_view("…").size(), "...");
    return text;
}

} // namespace

std::string usage_of(const Option& option)
{
    return std::string(option.key) + (option.key.ends_with('.') ? "NAME=" : "=") +
           option.values_text();
}

std::string unit_and_default(const Option& option)
{
    return (option.unit.empty() ? "" : std::string(option.unit) + "; ") +
           "default: " + std::string(option.standard);
}

std::string address_of(const Scheme& scheme)
{
    return scheme.name + ":" + scheme.rest;
}

std::string sides_of(const Scheme& scheme)
{
    if (scheme.missing)
        return scheme.missing->why;
    if (scheme.source && scheme.sink)
        return "source and sink";
    return scheme.source ? "source only" : "sink only";
}

std::string endpoint_options()
{
    static constexpr std::pair<std::string_view, std::string_view> kUsual[] = {
        {"iio", "frequency"}, {"iio", "rate"},         {"iio", "gain"},       {"iio", "bandwidth"},
        {"iio", "channels"},  {"iio", "uri"},          {"file", "overwrite"}, {"file", "format"},
        {"file", "convert"},  {"file", "rotate_bytes"}};
    std::string text =
        "\nEndpoint options, each a separate word after the endpoint that it belongs "
        "to. The usual ones:\n";
    std::string all = "\n`iio-stream help SCHEME:` explains all options of an endpoint:";
    for (const Scheme& scheme : schemes()) {
        all += " " + scheme.name + ":";
        bool is_first = true;
        for (const auto& [name, key] : kUsual)
            for (const Option& option : options_of(scheme))
                if (name == scheme.name && option.key == key) {
                    if (std::exchange(is_first, false))
                        text += "  " + address_of(scheme) + "\n";
                    text += brief(option, scheme.source && scheme.sink);
                }
    }
    return text + all + "\n";
}

std::string help_of(const Scheme& scheme)
{
    const std::string name = address_of(scheme);
    if (scheme.missing)
        return name + "\n" + scheme.summary + ": this iio-stream was " + scheme.missing->why +
               ".\n\nTo get it: " + scheme.missing->fix + "\n";
    const std::vector<Option> options = options_of(scheme);
    std::string text = name + " (" + sides_of(scheme) + ")\n" + scheme.summary + ".\n\nUsage:\n";
    if (scheme.source)
        text += "  iio-stream stream " + name + " [KEY=VALUE…] SINK…\n";
    if (scheme.sink)
        text += "  iio-stream stream SOURCE " + name + " [KEY=VALUE…]\n";
    text += explained("Options", only_for(options, OptionSide::both)) +
            explained("As a source", only_for(options, OptionSide::source)) +
            explained("As a sink", only_for(options, OptionSide::sink));
    return text + "\nExample:\n  " + scheme.example + "\n";
}

std::string mdoc_list(const std::vector<Option>& options)
{
    if (options.empty())
        return "";
    std::string text = ".Pp\n.Bl -tag -width Ds -compact\n";
    for (const Option& option : options) {
        const std::string key(option.key);
        text += ".It Cm " + key + (key.ends_with('.') ? " Ns Ar NAME Ns Cm =" : "=") + " Ns Ar " +
                mdoc(option.values_text()) + "\n" + mdoc(std::string(option.help)) + ".\n";
        if (!option.unit.empty())
            text += "Unit: " + std::string(option.unit) + ".\n";
        text += "Default: " + mdoc(std::string(option.standard)) + ".\n";
        if (option.side != OptionSide::both)
            text += std::string("Only for a ") +
                    (option.side == OptionSide::source ? "source" : "sink") + ".\n";
    }
    return text + ".El\n";
}

std::string yaml_list(OptionSide side)
{
    std::string text;
    for (const Scheme& scheme : schemes()) {
        if (side == OptionSide::source ? !scheme.source : !scheme.sink)
            continue;
        text += "\n    " + address_of(scheme) + "\n";
        for (const Option& option : options_of(scheme, side))
            text += "  " + brief(option, false);
    }
    return text;
}

} // namespace iio_stream::cli
