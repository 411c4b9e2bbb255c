// SPDX-License-Identifier: MIT
#include "cli/commands/complete.hpp"

#include "cli/parsing/option_text.hpp"
#include "cli/parsing/parse_endpoints.hpp"
#include "iio_stream/device.hpp"

#include <algorithm>

namespace iio_stream::cli {

namespace {

/// The position of the last word among the endpoints.
struct Place {
    std::size_t endpoints = 0;      ///< before the word, since the last --and
    std::string scheme;             ///< of the last endpoint
    std::vector<std::string> given; ///< keys of that endpoint's options

    OptionSide side() const { return endpoints == 1 ? OptionSide::source : OptionSide::sink; }
};

std::string key_of(const std::string& word)
{
    return word.substr(0, word.find('='));
}

std::string scheme_of(const std::string& word)
{
    try {
        return Uri::parse(word).scheme;
    } catch (const Error&) {
        return "";
    }
}

const CommandOption* find(const std::vector<CommandOption>& options, const std::string& name)
{
    const auto at = std::find_if(options.begin(), options.end(),
                                 [&](const CommandOption& option) { return option.name == name; });
    return at == options.end() ? nullptr : &*at;
}

bool wants_value(const std::vector<CommandOption>& options, const std::string& word)
{
    const CommandOption* option = find(options, word);
    return option != nullptr && !option->value.empty();
}

Place place_after(const std::vector<std::string>& words, const std::vector<CommandOption>& options)
{
    Place place;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--and")
            place = {};
        else if (word.starts_with("--"))
            i += wants_value(options, word) ? 1 : 0;
        else if (is_option(word))
            place.given.push_back(key_of(word));
        else
            place = {place.endpoints + 1, scheme_of(word), {}};
    }
    return place;
}

// Adds the values of an option that can be typed literally, each after `before`.
void add_words(std::vector<Candidate>& found, const std::string& before, const Option& option)
{
    for (const std::string& word : option.words())
        found.push_back({before + word, std::string(option.help)});
}

void add_options(std::vector<Candidate>& found, const Place& place, const std::string& current)
{
    for (const Scheme& scheme : schemes()) {
        if (scheme.name != place.scheme)
            continue;
        for (const Option& option : options_of(scheme, place.side())) {
            const std::string key(option.key);
            const auto is_it = [&](const std::string& given) { return option.is(given); };
            if (option.is(key_of(current)) && current.find('=') != std::string::npos)
                add_words(found, key_of(current) + "=", option);
            else if (std::none_of(place.given.begin(), place.given.end(), is_it))
                found.push_back({key.ends_with('.') ? key : key + "=",
                                 std::string(option.help) + " (" + unit_and_default(option) + ")"});
        }
    }
}

void add_devices(std::vector<Candidate>& found)
{
    try {
        for (const DeviceInfo& device : devices())
            found.push_back({"iio:" + device.name, device.id});
    } catch (const Error&) {
        // no devices to suggest
    }
}

void add_endpoints(std::vector<Candidate>& found, const Place& place, const std::string& current)
{
    for (const Scheme& scheme : schemes()) {
        if (place.endpoints == 0 ? !scheme.source : !scheme.sink)
            continue;
        const Option rest{"", OptionType::choice, scheme.rest, "", "", scheme.summary};
        if (!rest.words().empty())
            add_words(found, scheme.name + ":", rest);
        else
            found.push_back({scheme.name + ":", scheme.summary});
    }
    if (current.starts_with("iio:"))
        add_devices(found);
}

void add_option_values(std::vector<Candidate>& found, const std::string& before,
                       const CommandOption& option)
{
    add_words(found, before, {"", OptionType::choice, option.value, "", "", option.help});
}

std::vector<Candidate> all_of(const Command& command, const std::vector<std::string>& words)
{
    std::vector<Candidate> found;
    const std::vector<CommandOption> options = options_of(command);
    const std::string &current = words.back(), &previous = words[words.size() - 2];
    if (wants_value(options, previous)) {
        add_option_values(found, "", *find(options, previous));
        return found;
    }
    if (current.starts_with("-")) {
        for (const CommandOption& option : options)
            if (option.name.starts_with("--"))
                found.push_back({option.name, option.help});
        if (const CommandOption* option = find(options, key_of(current)))
            add_option_values(found, key_of(current) + "=", *option);
        return found;
    }
    for (const CommandOption& option : options) {
        if (option.name == "endpoints") {
            const Place place = place_after(words, options);
            add_options(found, place, current);
            add_endpoints(found, place, current);
        } else if (option.name == "verb" && words.size() == 2) {
            add_option_values(found, "", option);
        } else if (option.value == "COMMAND|ENDPOINT") {
            for (const Command& other : commands())
                found.push_back({other.name, other.summary});
            for (const Scheme& scheme : schemes())
                found.push_back({scheme.name, scheme.summary});
        }
    }
    return found;
}

} // namespace

std::vector<Candidate> complete(const std::vector<std::string>& words)
{
    std::vector<Candidate> found;
    const std::string current = words.empty() ? "" : words.back();
    if (words.size() < 2) {
        for (const Command& command : commands())
            found.push_back({command.name, command.summary});
    } else {
        for (const Command& command : commands())
            if (words[0] == command.name)
                found = all_of(command, words);
    }
    std::erase_if(found, [&](const Candidate& c) { return !c.word.starts_with(current); });
    return found;
}

} // namespace iio_stream::cli
