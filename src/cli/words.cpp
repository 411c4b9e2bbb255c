// SPDX-License-Identifier: MIT
#include "cli/words.hpp"

#include "iio_stream/endpoint.hpp"

#include <algorithm>

namespace iio_stream::cli {

// Only attr. has slashes in its key.
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

std::vector<std::string> endpoints(const std::vector<std::string>& words)
{
    std::vector<Uri> uris;
    for (const std::string& word : words) {
        if (!is_option(word)) {
            uris.push_back(Uri::parse(word));
            continue;
        }
        if (uris.empty())
            fail_usage("'" + word + "' comes before any endpoint",
                       "options follow the endpoint they belong to");
        const std::size_t equals = word.find('=');
        uris.back().options.set(word.substr(0, equals), word.substr(equals + 1));
    }
    std::vector<std::string> texts;
    for (const Uri& uri : uris)
        texts.push_back(uri.text());
    return texts;
}

std::vector<std::vector<std::string>> cut_at_and(const std::vector<std::string>& words)
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
