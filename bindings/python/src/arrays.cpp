// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include "dlpack.hpp"

#include <complex>
#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

std::span<std::byte> bytes_of(py::array& array)
{
    return {static_cast<std::byte*>(array.mutable_data()),
            static_cast<std::size_t>(array.nbytes())};
}

void convert_into(const FullBlock& block, const Converter& converter, py::array& array)
{
    const std::span<std::byte> out = bytes_of(array);
    const Filled lease = block.lease().share(); // release() may come while others run
    const py::gil_scoped_release others;
    converter.convert(CpuRead(lease).bytes(), out);
}

py::array convert(const FullBlock& block, const std::string& to)
{
    const Converter converter(block.layout().format, to);
    const LayoutPtr layout = layout_of(converter.to());
    std::vector<py::ssize_t> shape{block.samples()};
    if (layout->columns != 0)
        shape.push_back(layout->columns);
    py::array array(layout->dtype, shape);
    convert_into(block, converter, array);
    return array;
}

py::array iq(const FullBlock& block)
{
    const Converter converter(block.layout().format, "cf32_le");
    std::vector<py::ssize_t> shape{block.samples()};
    const std::size_t pairs = converter.from().channels.size() / 2;
    if (pairs != 1)
        shape.push_back(static_cast<py::ssize_t>(pairs));
    py::array array(py::dtype::of<std::complex<float>>(), shape);
    convert_into(block, converter, array);
    return array;
}

py::object array_interface(const py::object& self)
{
    auto& block = self.cast<FullBlock&>();
    block.pin();
    return block.array(self).attr("__array_interface__");
}

py::capsule dlpack(const py::object& self, const py::object& /*stream*/,
                   std::optional<std::pair<int, int>> max_version,
                   std::optional<std::pair<int, int>> device, std::optional<bool> copy)
{
    if (device && *device != std::pair(1, 0))
        throw py::buffer_error("a block is in the CPU's memory: dl_device is (1, 0)");
    const bool versioned = max_version && max_version->first >= 1;
    const bool copied = copy.value_or(false);
    if (!versioned && !copied)
        throw py::buffer_error(
            "a block is read-only, which DLPack before 1.0 cannot tell: copy() it, "
            "or pass copy=True");
    const py::array array = self.cast<FullBlock&>().array(self);
    return dlpack_capsule(copied ? py::array(array.attr("copy")()) : array, versioned, copied);
}

} // namespace

void bind_arrays(py::class_<FullBlock>& block)
{
    block
        .def("iq", &iq,
             "The samples as complex64, converted by the library, full scale 1.0: shape "
             "(samples,), or "
             "(samples, pairs) where there are several I/Q pairs. A new array, which keeps no "
             "block.\n"
             "Raises UsageError where the channels are not I/Q pairs.")
        .def("convert", &convert, py::arg("format"),
             "The samples in another format (\"rf32_le\", \"ri16_le\", \"cf32_le\"), each value "
             "decoded by "
             "its scan type: shape (samples, channels); full scale is 2^(bits-1) of an integer and "
             "1.0 "
             "of a float. A new array, which keeps no block.\nRaises UsageError.")
        .def_property_readonly(
            "__array_interface__", &array_interface,
            "NumPy's protocol for other libraries; from then on the block cannot be "
            "released by hand, since nobody tells when they are done.")
        .def("__dlpack__", &dlpack, py::kw_only(), py::arg("stream") = py::none(),
             py::arg("max_version") = std::nullopt, py::arg("dl_device") = std::nullopt,
             py::arg("copy") = std::nullopt,
             "DLPack 1.0: read-only, no copy. Consumers of older versions get BufferError, unless "
             "copy=True.")
        .def("__dlpack_device__", [](const FullBlock&) { return std::pair(1, 0); });
}

} // namespace iio_stream::python
