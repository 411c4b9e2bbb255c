// SPDX-License-Identifier: MIT
#include "module.hpp"
#include <iio_stream/error.hpp>
#include <iio_stream/gadget.hpp>
#include <iio_stream/units.hpp>

#include <map>
#include <pybind11/stl.h>
#include <string>

namespace iio_stream::python {

namespace {

using namespace py::literals;

py::dict status()
{
    const GadgetStatus found = without_gil([] { return gadget_status(); });
    py::list controllers, gadgets;
    for (const ControllerInfo& c : found.controllers)
        controllers.append(py::dict("name"_a = c.name, "state"_a = c.state, "speed"_a = c.speed,
                                    "holder"_a = or_none(c.holder)));
    for (const GadgetInfo& g : found.gadgets)
        gadgets.append(py::dict("name"_a = g.name, "udc"_a = g.udc, "bound"_a = g.bound,
                                "mount"_a = g.mount, "streamer"_a = or_none(g.streamer)));
    return py::dict("controllers"_a = controllers, "gadgets"_a = gadgets);
}

bool up(const std::map<std::string, std::string>& words)
{
    GadgetSettings settings;
    const auto take = [&](const char* name, std::string& into) {
        if (const auto found = words.find(name); found != words.end())
            into = found->second;
    };
    take("name", settings.name);
    take("into", settings.into);
    take("udc", settings.udc);
    take("mount", settings.mount);
    take("serial", settings.serial);
    take("manufacturer", settings.manufacturer);
    take("product", settings.description);
    if (const auto text = words.find("id"); text != words.end()) {
        const auto id = parse_usb_id(text->second);
        if (!id)
            fail_usage("id=" + text->second + " is not a VID:PID",
                       "two hexadecimal numbers: 1d6b:0104");
        settings.id = *id;
    }
    return without_gil([&] { return gadget_up(settings); });
}

} // namespace

void bind_gadget(py::module_& module)
{
    module.def("gadget_status", &status);
    module.def("gadget_up", &up);
    module.def("gadget_down", [](const std::string& name) {
        return without_gil([&] { return gadget_down(name); });
    });
}

} // namespace iio_stream::python
