// SPDX-License-Identifier: MIT
#include "format.hpp"
#include "module.hpp"
#include <iio_stream/recording.hpp>
#include <iio_stream/uri.hpp>

#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

py::object count_or_none(std::uint64_t count)
{
    return count == kUnknown ? py::none() : py::object(py::int_(count));
}

/// Returns the fields of the Python classes in _sigmf.py, in the same order.
py::dict describe(const std::string& metadata, const std::string& format)
{
    using namespace py::literals;
    const RecordingDescription said =
        without_gil([&] { return describe_recording(metadata, format); });
    py::list captures, gaps, zeros, headers;
    for (const RecordedCapture& one : said.captures)
        captures.append(py::make_tuple(one.start, one.index, one.index_exact, or_none(one.datetime),
                                       one.frequency, one.rate));
    for (const RecordedLoss& loss : said.losses)
        gaps.append(py::make_tuple(loss.gap.offset_min, loss.gap.offset_max, loss.gap.lost_min,
                                   count_or_none(loss.gap.lost_max),
                                   loss.dropped ? "dropped" : name_of(loss.gap.evidence)));
    for (const Zeros& one : said.zeros)
        zeros.append(py::make_tuple(one.begin, one.end));
    for (const RecordedHeader& one : said.headers)
        headers.append(py::make_tuple(one.sample, one.bytes));
    return py::dict("format"_a = format_dict(said.format), "state"_a = or_none(said.state),
                    "samples"_a = said.samples, "captures"_a = captures, "gaps"_a = gaps,
                    "zeros"_a = zeros, "has_first_index"_a = said.has_first_index,
                    "hardware"_a = said.hardware, "sha512"_a = or_none(said.sha512),
                    "dataset"_a = said.dataset, "metadata_only"_a = said.metadata_only,
                    "headers"_a = headers, "trailing_bytes"_a = said.trailing_bytes,
                    "problems"_a = said.problems, "warnings"_a = said.warnings);
}

/// Returns the format that the name of a file declares for the samples of a sink; "" if the sink is
/// no such file, or converts the samples.
std::string format_of_sink(const std::string& sink)
{
    const Uri uri = Uri::parse(sink);
    return uri.scheme == "file" && !uri.options.values().contains("convert")
               ? format_of_suffix(uri.rest)
               : std::string();
}

} // namespace

void bind_recording(py::module_& module)
{
    module.attr("MOST_METADATA") = py::int_(kMostMetadata);
    module.def("format_of_sink", &format_of_sink);
    module.def("describe_recording", &describe, py::arg("metadata"), py::arg("format") = "");
}

} // namespace iio_stream::python
