// SPDX-License-Identifier: MIT
#include "module.hpp"

#include <iio_stream/api.hpp>
#include <iio_stream/endpoint.hpp>

#include <atomic>
#include <map>
#include <pthread.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>

namespace iio_stream::python {

namespace {

std::atomic<unsigned> g_generation{0}; ///< incremented in each child that fork() creates

py::dict known_schemes()
{
    py::dict known;
    for (const Scheme& scheme : schemes()) {
        py::list directions;
        if (scheme.source)
            directions.append("source");
        if (scheme.sink)
            directions.append("sink");
        known[py::str(scheme.name)] = py::tuple(directions);
    }
    return known;
}

std::string uri(const std::string& endpoint, const std::map<std::string, std::string>& options)
{
    Uri made = Uri::parse(endpoint);
    for (const auto& [key, value] : options)
        made.options.set(key, value);
    return made.text();
}

py::list options(const std::string& name)
{
    py::list all;
    for (const Scheme& scheme : schemes()) {
        if (scheme.name != name)
            continue;
        for (const Option& option : options_of(scheme)) {
            py::dict entry;
            entry["key"] = std::string(option.key);
            entry["type"] = name_of(option.type);
            entry["values"] = option.values_text();
            entry["unit"] = std::string(option.unit);
            entry["default"] = std::string(option.standard);
            entry["help"] = std::string(option.help);
            entry["source"] = scheme.source && option.is_for(OptionSide::source);
            entry["sink"] = scheme.sink && option.is_for(OptionSide::sink);
            all.append(std::move(entry));
        }
    }
    return all;
}

} // namespace

Home::Home() noexcept : generation_(g_generation.load(std::memory_order_relaxed)) {}

bool Home::left() const noexcept
{
    return generation_ != g_generation.load(std::memory_order_relaxed);
}

void Home::check() const
{
    if (left())
        throw std::runtime_error("a stream of the parent process cannot be used after fork(): "
                                 "open one in the child");
}

} // namespace iio_stream::python

PYBIND11_MODULE(_core, module)
{
    using namespace iio_stream::python;
    (void)::pthread_atfork(nullptr, nullptr,
                           [] { g_generation.fetch_add(1, std::memory_order_relaxed); });
    module.attr("version") = iio_stream::version();
    module.def("schemes", &known_schemes);
    module.def("options", &options);
    module.def("uri", &uri);
    module.def("play_sink",
               [](const std::string& device) { return iio_stream::play_sink(device).text(); });
    bind_errors(module);
    bind_format(module);
    bind_block(module);
    bind_reader(module);
    bind_writer(module);
    bind_session(module);
    bind_device(module);
    bind_gadget(module);
    bind_bench(module);
    bind_recording(module);
}
