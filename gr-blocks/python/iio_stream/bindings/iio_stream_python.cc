/* SPDX-License-Identifier: GPL-3.0-or-later */
// Written by hand: the bindings that gr_modtool generates contain checksums of the headers and
// break when the headers are edited.
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

template <typename EmptyBlock>
using block_class =
    py::class_<EmptyBlock, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<EmptyBlock>>;

// Opens the endpoint without the GIL, because that can take a long time and other threads may need
// the GIL meanwhile. A call_guard would also release it while pybind11 registers the new object in
// its tables.
template <typename EmptyBlock, typename... Arguments>
auto opened(std::shared_ptr<EmptyBlock> (*make)(Arguments...))
{
    return py::init([make](Arguments... arguments) {
        const py::gil_scoped_release others;
        return make(std::forward<Arguments>(arguments)...);
    });
}

using words = std::map<std::string, std::string>;

std::string shown(const py::handle& object) { return py::repr(object).cast<std::string>(); }

// Converts numbers (including NumPy's), booleans and text. An option that is None is left out.
std::string word_of(const std::string& key, const py::handle& value)
{
    const std::string kind = py::str(py::type::of(value).attr("__name__")).cast<std::string>();
    if (py::isinstance<py::bool_>(value) || kind == "bool_" ||
        (kind == "bool" && !py::isinstance<py::str>(value)))
        return value.attr("__bool__")().cast<bool>() ? "on" : "off";
    const bool number = py::hasattr(value, "__index__") || py::hasattr(value, "__float__");
    const bool many = py::hasattr(value, "__len__") ||
                      (py::hasattr(value, "ndim") && value.attr("ndim").cast<int>() != 0);
    if (py::isinstance<py::str>(value) || (number && !many))
        return py::str(value).cast<std::string>();
    iio_stream::fail_usage(key + "=" + shown(value) + " is not a number or text");
}

words words_of(const py::dict& options)
{
    words found;
    for (const auto& [key, value] : options) {
        if (!py::isinstance<py::str>(key))
            iio_stream::fail_usage("the option " + shown(key) + " is not text");
        const std::string name = key.cast<std::string>();
        if (!value.is_none())
            found[name] = word_of(name, value);
    }
    return found;
}

constexpr const char* setter_errors =
    "\nNone leaves it unchanged. Returns False if the radio cannot be set so: the error is logged "
    "and sent to\nasync_msgs, and the flowgraph continues; tune() raises it instead. May be called "
    "from any thread.";

// Binds a setter that runs without the GIL, because a device on the network can be slow.
template <typename EmptyBlock>
void bind_setter(block_class<EmptyBlock>& type,
                 const char* name,
                 const char* argument,
                 bool (EmptyBlock::*set)(double),
                 const std::string& purpose)
{
    type.def(
        name,
        [set](EmptyBlock& block, std::optional<double> value) {
            const py::gil_scoped_release others;
            return !value || (block.*set)(*value);
        },
        py::arg(argument),
        (purpose + setter_errors).c_str());
}

template <typename EmptyBlock>
void bind_common(block_class<EmptyBlock>& type)
{
    type.def("format", &EmptyBlock::format, "The stream's own format, such as \"ci16_le\".")
        .def(
            "tune",
            [](EmptyBlock& block, const py::dict& options) {
                const words wanted = words_of(options);
                const py::gil_scoped_release others;
                block.tune(wanted);
            },
            py::arg("options"),
            "Tunes a radio, whether it streams or not: {\"frequency\": 2.4e9, \"gain\": 40}. Like "
            "the port\n"
            "command, but raises OSError, or ValueError for an invalid option.")
        .def(
            "set_settings",
            [](EmptyBlock& block, const py::dict& options) {
                const words wanted = words_of(options);
                const py::gil_scoped_release others;
                return block.set_settings(wanted);
            },
            py::arg("options"),
            "Sets the options of tune(), such as {\"agc\": \"slow_attack\"}. An option that is None "
            "is left out.\nReturns False on failure, like set_frequency().")
        .def("summary",
             &EmptyBlock::summary,
             "The summary of the last run, as printed by the command's --json; \"\" before its "
             "end.");
    bind_setter(type,
                "set_frequency",
                "hertz",
                &EmptyBlock::set_frequency,
                "Sets the centre frequency of the radio, in Hz, while it streams or not.");
    bind_setter(type,
                "set_sample_rate",
                "rate",
                &EmptyBlock::set_sample_rate,
                "Sets the sample rate of the device, in samples per second.");
    bind_setter(type,
                "set_gain",
                "decibels",
                &EmptyBlock::set_gain,
                "Sets the gain of the radio, in dB, and switches automatic gain control off.");
    bind_setter(type,
                "set_bandwidth",
                "hertz",
                &EmptyBlock::set_bandwidth,
                "Sets the bandwidth of the radio's analogue filter, in Hz.");
}

void bind_source(py::module_& module)
{
    block_class<source> type(
        module, "source", R"(The samples of an endpoint, with every loss tagged.

endpoint        "sim:?rate=1M", "iio:cf-ad9361-lpc?frequency=2.4G", a recording's path, ...
type            "fc32" or "sc16": an output for each pair of channels; "f32" or "s16": one for each channel
vlen            samples per item
on_gap          "mark" (tags only), "stop" (the flowgraph ends before the gap) or "zero-fill" (zeros for samples
                certainly lost)
packet_len      key of a tag on each piece of the stream without a gap; "": none
buffer_size     samples per block; 0: about 10 ms
buffers         number of blocks; 0: enough for 250 ms
samples         number of samples; 0: no limit
stats_interval  seconds between messages to stats; 0: no messages

Tags: rx_time, rx_rate and rx_freq, like gr-uhd's, and overflow. Messages: stats, command, async_msgs.
Raises OSError if the endpoint cannot be opened, ValueError for an invalid option.)");
    type.def(opened(&source::make),
             py::arg("endpoint") = "sim:",
             py::arg("type") = "fc32",
             py::arg("vlen") = 1,
             py::arg("on_gap") = "mark",
             py::arg("packet_len") = "",
             py::arg("buffer_size") = 0,
             py::arg("buffers") = 0,
             py::arg("samples") = 0,
             py::arg("stats_interval") = 1.0)
        .def("sample_rate", &source::sample_rate, "Samples per second; 0: unknown.");
    bind_common(type);
}

void bind_sink(py::module_& module)
{
    block_class<sink> type(module, "sink", R"(Sends samples to an endpoint.

endpoint        "null:", "iio:cf-ad9361-dds-core-lpc?frequency=2.4G", a path for a recording, ...
type            "fc32" or "sc16": an input for each pair of channels; "f32" or "s16": one for each channel
ports           number of inputs
vlen            samples per item
format          format of the stream; "": that of the device, or of the inputs if there is no device
sample_rate     samples per second; 0: unknown
length_tag      key of a tag with the number of items in a packet; "": none
buffer_size     samples per block; 0: about 10 ms
buffers         number of blocks; 0: enough for 250 ms
stats_interval  seconds between messages to stats; 0: no messages

Tags: tx_eob. Messages: stats, command, async_msgs, which reports underflows.
Raises OSError if the endpoint cannot be opened, ValueError for an invalid option.)");
    type.def(opened(&sink::make),
             py::arg("endpoint") = "null:",
             py::arg("type") = "fc32",
             py::arg("ports") = 1,
             py::arg("vlen") = 1,
             py::arg("format") = "",
             py::arg("sample_rate") = 0.0,
             py::arg("length_tag") = "",
             py::arg("buffer_size") = 0,
             py::arg("buffers") = 0,
             py::arg("stats_interval") = 1.0);
    bind_common(type);
}

// Raises OSError(errno, text), from which Python makes FileNotFoundError or another subclass, or
// ValueError.
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
               py::arg("channels") = std::vector<std::string>{},
               "Returns the endpoint for gr-iio's context URI, device and channels.");
    module.def(
        "with_options",
        [](const std::string& endpoint, const py::dict& options) {
            return gr::iio_stream::with_options(endpoint, words_of(options));
        },
        py::arg("endpoint"),
        py::arg("options"),
        "Returns the endpoint with additional options: with_options(\"iio:adc\", {\"gain\": 40}). An "
        "option that is\nNone is left out.");
    bind_source(module);
    bind_sink(module);
}
