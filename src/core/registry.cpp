// SPDX-License-Identifier: MIT
#include "core/registry.hpp"

#include "core/text.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>

namespace iio_stream {

namespace {

std::vector<Scheme>& table()
{
    static std::vector<Scheme> schemes = detail::builtin_schemes();
    return schemes;
}

const Scheme& find(const std::string& name)
{
    const auto at = std::find_if(table().begin(), table().end(),
                                 [&](const Scheme& scheme) { return scheme.name == name; });
    if (at == table().end())
        fail_usage("there is no endpoint '" + name + ":'");
    return *at;
}

std::string those_with(bool (*can)(const Scheme&))
{
    std::string names;
    for (const Scheme& scheme : table())
        if (can(scheme))
            detail::add_item(names, scheme.name + ":");
    return names;
}

} // namespace

void register_scheme(Scheme scheme)
{
    std::erase_if(table(), [&](const Scheme& old) { return old.name == scheme.name; });
    table().push_back(std::move(scheme));
}

const std::vector<Scheme>& schemes()
{
    return table();
}

namespace detail {

std::unique_ptr<Source> make_source(Uri& uri)
{
    const Scheme& scheme = find(uri.scheme);
    if (!scheme.source)
        fail_usage(uri.scheme + ": cannot be read from", "sources are " + those_with([](auto& s) {
                                                             return s.source != nullptr;
                                                         }));
    auto source = scheme.source(uri);
    uri.options.finish(uri.scheme + ":" + uri.rest);
    return source;
}

std::unique_ptr<Sink> make_sink(Uri& uri)
{
    const Scheme& scheme = find(uri.scheme);
    if (!scheme.sink)
        fail_usage(uri.scheme + ": cannot be written to",
                   "sinks are " + those_with([](auto& s) { return s.sink != nullptr; }));
    auto sink = scheme.sink(uri);
    uri.options.finish(uri.scheme + ":" + uri.rest);
    return sink;
}

} // namespace detail

} // namespace iio_stream
