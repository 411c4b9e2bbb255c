// SPDX-License-Identifier: MIT
#include "core/base/text.hpp"
#include "core/options/common_options.hpp"
#include "iio_stream/endpoint.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <optional>

namespace iio_stream {

namespace {

// Whether Uri::text() leaves a character unencoded. It encodes all separators.
bool plain(char c)
{
    return c != '%' && c != '&' && c != '?' && c != '#' && c > ' ' && c < 127;
}

std::string decode(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const std::optional<char> decoded = detail::percent_decoded(text.substr(i));
        if (!decoded)
            fail_usage("'" + std::string(text) + "': % is not followed by two hexadecimal digits",
                       "write %25 for a percent sign");
        out += *decoded;
        i += 2;
    }
    return out;
}

bool known_scheme(std::string_view name)
{
    return std::any_of(schemes().begin(), schemes().end(),
                       [&](const Scheme& scheme) { return scheme.name == name; });
}

bool looks_like_scheme(std::string_view name)
{
    return name.size() >= 2 && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
           });
}

std::vector<std::string> scheme_names()
{
    std::vector<std::string> names;
    for (const Scheme& scheme : schemes())
        names.push_back(scheme.name);
    return names;
}

std::string suggest_scheme(std::string_view text)
{
    const std::string near = nearest(text, scheme_names());
    return near.empty() ? suggest(text, scheme_names()) : "did you mean '" + near + ":'?";
}

void parse_options(std::string_view query, Options& options)
{
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view word = query.substr(0, end);
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == std::string_view::npos)
            fail_usage("'" + std::string(word) + "' is not an option", "options are key=value");
        options.set(std::string(word.substr(0, equals)), decode(word.substr(equals + 1)));
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

// The offset at which the options of a path without a scheme begin: at a question mark followed by
// key=value. If there are none, it is the size of the path. (A file with such a name can be written
// as file:NAME with %3F for the question mark.)
std::size_t options_mark(std::string_view path)
{
    const std::size_t mark = path.rfind('?');
    if (mark == std::string_view::npos)
        return path.size();
    const std::string_view query = path.substr(mark + 1);
    const std::string_view key = query.substr(0, query.find('='));
    const bool is_option = key.size() < query.size() && !key.empty() &&
                           std::all_of(key.begin(), key.end(), [](char c) {
                               return (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.';
                           });
    return is_option ? mark : path.size();
}

} // namespace

Uri Uri::parse(std::string_view text)
{
    Uri uri;
    const std::size_t colon = text.find(':');
    const std::string_view scheme = text.substr(0, std::min(colon, text.size()));
    if (colon != std::string_view::npos &&
        (scheme == "ip" || scheme == "serial" || scheme == "local"))
        fail_usage("'" + std::string(text) + "' is a libiio context, not a device",
                   "iio:DEVICE uri=" + std::string(text) +
                       "; to name a file, write file:" + std::string(text));
    if (colon == std::string_view::npos || !known_scheme(scheme)) {
        // "simm:" alone is a typo, but "rf:dump" can be a file.
        if (colon != std::string_view::npos && looks_like_scheme(scheme) &&
            (colon + 1 == text.size() || text.find('=', colon) != std::string_view::npos ||
             !nearest(scheme, scheme_names()).empty()))
            fail_usage(
                "'" + std::string(text) + "': there is no endpoint '" + std::string(scheme) + ":'",
                suggest_scheme(scheme) + "; to name a file, write file:" + std::string(text));
        if (colon == std::string_view::npos && known_scheme(text))
            fail_usage("'" + std::string(text) + "' without a colon is the name of a file",
                       "did you mean '" + std::string(text) +
                           ":'? to name a file, write file:" + std::string(text));
        uri.scheme = "file";
        const std::size_t mark = options_mark(text);
        uri.rest = text.substr(0, mark);
        if (mark < text.size())
            parse_options(text.substr(mark + 1), uri.options);
        return uri;
    }
    uri.scheme = scheme;
    const std::string_view rest = text.substr(colon + 1);
    const std::size_t mark = std::min(rest.find('?'), rest.size());
    uri.rest = decode(rest.substr(0, mark));
    if (mark < rest.size())
        parse_options(rest.substr(mark + 1), uri.options);
    return uri;
}

Uri Uri::named(std::string scheme)
{
    Uri uri;
    uri.scheme = std::move(scheme);
    return uri;
}

std::string Uri::text() const
{
    if (empty())
        return "";
    std::string text = scheme + ":" + detail::percent_encoded(rest, &plain);
    char separator = '?';
    for (const auto& [key, value] : options.values()) {
        text += separator + key + "=" + detail::percent_encoded(value, &plain);
        separator = '&';
    }
    return text;
}

Uri play_sink(Uri device)
{
    if (device.scheme == "iio" && !device.options.has(detail::kStatedFormat["rate"]))
        device.options.set("rate", "auto");
    return device;
}

} // namespace iio_stream
