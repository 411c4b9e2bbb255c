/* SPDX-License-Identifier: GPL-3.0-or-later */
// By hand: gr_modtool's bindings carry checksums of the headers, and break when those are edited.
#include <gnuradio/iio_stream/endpoint.h>
#include <gnuradio/iio_stream/sink.h>
#include <gnuradio/iio_stream/source.h>
#include <iio_stream/error.hpp>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace {

using gr::iio_stream::sink;
using gr::iio_stream::source;

// Others wait for threads that wait for Python: opening and tuning take their time.
using without_gil = py::call_guard<py::gil_scoped_release>;

template <typename Block>
using block_class =
    py::class_<Block, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<Block>>;

using words = std::map<std::string, std::string>;

words words_of(const py::dict& options)
{
    words found;
    for (const auto& [key, value] : options) {
        const bool is_switch = py::isinstance<py::bool_>(value);
        found[key.cast<std::string>()] = is_switch ? (value.cast<bool>() ? "on" : "off")
                                                   : py::str(value).cast<std::string>();
    }
    return found;
}

template <typename Block>
void bind_common(block_class<Block>& type)
{
    type.def("format", &Block::format)
        .def(
            "tune",
            [](Block& block, const py::dict& options) {
                const words wanted = words_of(options);
                const py::gil_scoped_release others;
                block.tune(wanted);
            },
            py::arg("options"))
        .def("summary", &Block::summary);
}

void bind_source(py::module_& module)
{
    block_class<source> type(module, "source");
    type.def(py::init(&source::make),
             py::arg("endpoint") = "sim:",
             py::arg("type") = "fc32",
             py::arg("vlen") = 1,
             py::arg("on_gap") = "tag",
             py::arg("packet_len") = "",
             py::arg("buffer_size") = 0,
             py::arg("buffers") = 0,
             py::arg("samples") = 0,
             py::arg("stats_interval") = 1.0,
             without_gil())
        .def("sample_rate", &source::sample_rate);
    bind_common(type);
}

void bind_sink(py::module_& module)
{
    block_class<sink> type(module, "sink");
    type.def(py::init(&sink::make),
             py::arg("endpoint") = "null:",
             py::arg("type") = "fc32",
             py::arg("ports") = 1,
             py::arg("vlen") = 1,
             py::arg("format") = "",
             py::arg("sample_rate") = 0.0,
             py::arg("length_tag") = "",
             py::arg("buffer_size") = 0,
             py::arg("buffers") = 0,
             py::arg("stats_interval") = 1.0,
             without_gil());
    bind_common(type);
}

// As OSError(errno, text): Python makes FileNotFoundError and the like of it.
void translate(std::exception_ptr pointer)
{
    try {
        std::rethrow_exception(std::move(pointer));
    } catch (const iio_stream::Error& error) {
        const bool usage = error.fault() == iio_stream::Fault::usage;
        const py::tuple arguments = usage ? py::make_tuple(error.what())
                                          : py::make_tuple(error.code().value(), error.what());
        PyErr_SetObject(usage ? PyExc_ValueError : PyExc_OSError, arguments.ptr());
    }
}

} // namespace

PYBIND11_MODULE(iio_stream_python, module)
{
    py::module_::import("gnuradio.gr");
    py::register_local_exception_translator(&translate);
    module.def("endpoint_of",
               &gr::iio_stream::endpoint_of,
               py::arg("uri"),
               py::arg("device"),
               py::arg("channels") = std::vector<std::string>{});
    module.def(
        "with_options",
        [](const std::string& endpoint, const py::dict& options) {
            return gr::iio_stream::with_options(endpoint, words_of(options));
        },
        py::arg("endpoint"),
        py::arg("options"));
    bind_source(module);
    bind_sink(module);
}
