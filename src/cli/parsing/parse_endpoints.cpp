// SPDX-License-Identifier: MIT
#include "cli/parsing/parse_endpoints.hpp"

#include "iio_stream/device.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace iio_stream::cli {

// Only keys that begin with "attr." can contain slashes.
bool is_option(const std::string& word)
{
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
        return false;
    const std::string key = word.substr(0, equals);
    if (key.starts_with("attr."))
        return true;
    return std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

namespace {

bool is_option_of(const Uri& uri, const std::string& word)
{
    for (const Scheme& scheme : schemes())
        if (scheme.name == uri.scheme)
            for (const Option& option : options_of(scheme))
                if (option.is(word))
                    return true;
    return false;
}

bool is_unit(const std::string& word)
{
    constexpr std::array kUnits{"ms",   "us",   "msec", "usec", "sec",  "min",  "Ki",
                                "Mi",   "Gi",   "Hz",   "kHz",  "MHz",  "GHz",  "S/s",
                                "kS/s", "MS/s", "GS/s", "ksps", "Msps", "MSPS", "dB"};
    return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

bool is_device(const std::string& name)
try {
    const std::vector<DeviceInfo> known = devices();
    return std::any_of(known.begin(), known.end(), [&](const DeviceInfo& device) {
        return device.name == name || device.label == name || device.id == name;
    });
} catch (const Error&) { // opening the endpoint reports the error
    return false;
}

// A word without a colon, a dot or a slash can name a file, but it can also be a mistake.
void check_name(const std::string& word, const std::vector<Uri>& before)
{
    if (word.find_first_of(":./") != std::string::npos || std::filesystem::exists(word))
        return;
    const std::string file = "; to name a file, write file:" + word;
    if (!before.empty() && is_option_of(before.back(), word))
        fail_usage("'" + word + "' is an option without a value",
                   "write " + word + "=VALUE" + file);
    if (is_device(word))
        fail_usage("'" + word + "' without iio: is the name of a file",
                   "did you mean 'iio:" + word + "'?" + file);
}

} // namespace

std::vector<Uri> parse_endpoints(const std::vector<std::string>& words)
{
    std::vector<Uri> uris;
    for (const std::string& word : words) {
        if (!uris.empty() && is_unit(word) && !std::filesystem::exists(word))
            fail_usage("'" + word + "' is not an option or an endpoint",
                       "write a number and its unit without a space, such as 30M; to name a file, "
                       "write file:" +
                           word);
        if (!is_option(word)) {
            check_name(word, uris);
            uris.push_back(Uri::parse(word));
            continue;
        }
        if (uris.empty())
            fail_usage("'" + word + "' comes before any endpoint",
                       "options follow the endpoint they belong to");
        const std::size_t equals = word.find('=');
        uris.back().options.set(word.substr(0, equals), word.substr(equals + 1));
    }
    return uris;
}

std::vector<std::vector<std::string>> split_at_and(const std::vector<std::string>& words)
{
    std::vector<std::vector<std::string>> parts(1);
    for (const std::string& word : words) {
        if (word == "--and")
            parts.emplace_back();
        else
            parts.back().push_back(word);
    }
    return parts;
}

} // namespace iio_stream::cli
