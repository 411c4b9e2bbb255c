// SPDX-License-Identifier: MIT
#include "core/text.hpp"

#include <algorithm>

namespace iio_stream::detail {

std::vector<std::string> split(std::string_view list, char separator)
{
    std::vector<std::string> parts;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        parts.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return parts;
}

void add_item(std::string& list, const std::string& item)
{
    if (!list.empty())
        list += ", ";
    list += item;
}

void add_clause(std::string& text, const std::string& clause)
{
    if (clause.empty())
        return;
    if (!text.empty())
        text += "; ";
    text += clause;
}

} // namespace iio_stream::detail
