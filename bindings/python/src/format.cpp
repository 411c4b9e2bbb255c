// SPDX-License-Identifier: MIT
#include "format.hpp"

#include "module.hpp"
#include <iio_stream/units.hpp>

#include <algorithm>
#include <array>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <span>

namespace iio_stream::python {

namespace {

constexpr std::array kComponents{"real", "in_phase", "quadrature", "counter"};

const char* name_of(Component component)
{
    return kComponents[static_cast<std::size_t>(component)];
}

Component component_of(const std::string& name)
{
    return static_cast<Component>(std::find(kComponents.begin(), kComponents.end(), name) -
                                  kComponents.begin());
}

const char* name_of(ScanType::Number number)
{
    static constexpr const char* kNames[] = {"unsigned", "signed", "floating"};
    return kNames[static_cast<int>(number)];
}

py::dict dict_of(const Channel& channel)
{
    using namespace py::literals;
    const ScanType& type = channel.type;
    return py::dict("id"_a = channel.id, "type"_a = type.text(), "number"_a = name_of(type.number),
                    "big_endian"_a = type.big_endian, "bits"_a = type.bits,
                    "storage_bits"_a = type.storage_bits, "shift"_a = type.shift,
                    "repeat"_a = type.repeat, "scan_index"_a = channel.scan_index,
                    "component"_a = name_of(channel.component), "offset"_a = channel.offset);
}

/// Converts samples whose channels have `types`, without padding, to float32 with full scale 1.0.
/// `out` has one element for each value.
void to_floats(const std::vector<std::string>& types, const py::bytes& samples,
               py::array_t<float>& out)
{
    Format from;
    for (const std::string& type : types)
        from.channels.emplace_back().type = ScanType::parse(type);
    from.lay_out();
    const Converter converter(from, Format::parse("rf32_le", std::to_string(types.size())));
    const std::string_view in = samples;
    const std::span<float> values(out.mutable_data(), static_cast<std::size_t>(out.size()));
    if (in.size() / from.sample_bytes * types.size() != values.size() ||
        !(out.flags() & py::array::c_style))
        throw std::invalid_argument("to_floats: out must have one float for each value");
    const py::gil_scoped_release unlocked;
    converter.convert(std::as_bytes(std::span(in)), std::as_writable_bytes(values));
}

} // namespace

py::dict format_dict(const Format& format)
{
    using namespace py::literals;
    py::list channels;
    for (const Channel& channel : format.channels)
        channels.append(dict_of(channel));
    return py::dict("name"_a = format.name(), "channels"_a = channels,
                    "sample_bytes"_a = format.sample_bytes, "sample_rate"_a = format.sample_rate,
                    "is_complex"_a = format.is_complex());
}

Format format_from(const py::object& format)
{
    Format made;
    for (const py::handle one : format.attr("channels")) {
        Channel& channel = made.channels.emplace_back();
        channel.id = one.attr("id").cast<std::string>();
        channel.type = ScanType::parse(one.attr("type").cast<std::string>());
        channel.scan_index = one.attr("scan_index").cast<unsigned>();
        channel.component = component_of(one.attr("component").cast<std::string>());
    }
    made.lay_out();
    return made;
}

LayoutPtr layout_of(const Format& format)
{
    const py::tuple made =
        py::module_::import("iio_stream._format").attr("layout")(format_dict(format));
    auto layout = std::make_shared<Layout>();
    layout->format = format;
    layout->dtype = py::dtype::from_args(made[0]);
    layout->columns = made[1].cast<py::ssize_t>();
    layout->code = made[2].cast<std::string>();
    layout->native = made[3].cast<bool>();
    return layout;
}

void bind_format(py::module_& module)
{
    module.def("parse_format", [](const std::string& name, const std::string& channels) {
        return format_dict(Format::parse(name, channels));
    });
    module.def("to_floats", &to_floats);
    module.def("parse_size", [](const std::string& name, const std::string& text) {
        return parse_size(name, text);
    });
    module.def("parse_rate", [](const std::string& name, const std::string& text) {
        return parse_rate(name, text);
    });
    module.def("parse_duration", [](const std::string& name, const std::string& text) {
        return parse_duration(name, text).count();
    });
    module.def("suggest", [](const std::string& text, const std::vector<std::string>& known) {
        return suggest(text, known);
    });
}

} // namespace iio_stream::python
