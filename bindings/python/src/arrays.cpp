// SPDX-License-Identifier: MIT
#include "arrays.hpp"

#include "dlpack.hpp"

#include <algorithm>
#include <complex>
#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

void convert_into(const PyBlock& block, const Converter& converter, py::array& array)
{
    const std::size_t bytes =
        static_cast<std::size_t>(block.samples()) * converter.to().sample_bytes;
    const std::span<std::byte> out(static_cast<std::byte*>(array.mutable_data()), bytes);
    const Block lease = block.lease().share(); // another thread can call release() meanwhile
    const py::gil_scoped_release others;
    converter.convert(CpuRead(lease).bytes(), out);
}

py::array convert(const PyBlock& block, const std::string& to)
{
    const Converter converter(block.layout().format, to);
    const LayoutPtr layout = layout_of(converter.to());
    const auto item = static_cast<py::ssize_t>(layout->format.sample_bytes);
    std::vector<py::ssize_t> shape{block.samples()}, strides{item};
    if (layout->columns != 0) {
        shape.push_back(layout->columns);
        strides.push_back(item / layout->columns);
    }
    py::array array(layout->dtype, shape, strides);
    convert_into(block, converter, array);
    return array;
}

/// Returns the caller's array. Throws if it is not a writable array of the shape and type of the
/// result.
py::array checked(const py::object& out, const std::vector<py::ssize_t>& shape)
{
    constexpr int kWanted = int{py::array::c_style} | int{py::detail::npy_api::NPY_ARRAY_ALIGNED_};
    std::string size = "(" + std::to_string(shape[0]) + ",";
    size += shape.size() > 1 ? " " + std::to_string(shape[1]) + ")" : ")";
    const std::string wanted = "iq(out=) takes a complex64 array of shape " + size + ", not ";
    if (!py::isinstance<py::array>(out))
        throw py::type_error(wanted + "a " +
                             py::type::of(out).attr("__name__").cast<std::string>());
    auto array = py::reinterpret_borrow<py::array>(out);
    if (!array.dtype().equal(py::dtype::of<std::complex<float>>()))
        throw py::type_error(wanted + "one of " + py::str(array.dtype()).cast<std::string>());
    if (!std::equal(shape.begin(), shape.end(), array.shape(), array.shape() + array.ndim()))
        throw py::value_error(wanted + "one of shape " +
                              py::str(out.attr("shape")).cast<std::string>());
    if (!py::detail::check_flags(array.ptr(), kWanted))
        throw py::value_error("iq(out=) takes a contiguous array, in C order");
    if (!array.writeable())
        throw py::value_error("iq(out=) takes an array that can be written to");
    return array;
}

/// Returns the shape of samples as complex64.
std::vector<py::ssize_t> iq_shape(const Converter& converter, py::ssize_t samples)
{
    const auto pairs = static_cast<py::ssize_t>(converter.from().channels.size() / 2);
    if (pairs == 1)
        return {samples};
    return {samples, pairs};
}

/// Returns a new array. The strides are stated, because with NumPy 2, pybind11 before 2.12 reads
/// the size of an item from the wrong place and computes strides of 0.
py::array new_iq(const std::vector<py::ssize_t>& shape)
{
    constexpr py::ssize_t kItem = sizeof(std::complex<float>);
    std::vector<py::ssize_t> strides{kItem};
    if (shape.size() > 1)
        strides.insert(strides.begin(), shape[1] * kItem);
    return {py::dtype::of<std::complex<float>>(), shape, strides};
}

py::array iq(const PyBlock& block, const py::object& out)
{
    const Converter converter(block.layout().format, "cf32_le");
    const std::vector<py::ssize_t> shape = iq_shape(converter, block.samples());
    py::array array = out.is_none() ? new_iq(shape) : checked(out, shape);
    convert_into(block, converter, array);
    return array;
}

/// Returns the samples of a contiguous buffer as complex64.
py::array to_iq(const py::object& format, const py::buffer& samples)
{
    const Converter converter(format_from(format), "cf32_le");
    const py::buffer_info info = samples.request();
    const auto bytes = static_cast<std::size_t>(info.size * info.itemsize);
    const std::size_t count = bytes / converter.from().sample_bytes;
    py::array array = new_iq(iq_shape(converter, static_cast<py::ssize_t>(count)));
    const std::span in(static_cast<const std::byte*>(info.ptr),
                       count * converter.from().sample_bytes);
    const std::span out(static_cast<std::byte*>(array.mutable_data()),
                        count * converter.to().sample_bytes);
    const py::gil_scoped_release others;
    converter.convert(in, out);
    return array;
}

py::object array_interface(const py::object& self)
{
    auto& block = self.cast<PyBlock&>();
    block.pin();
    return block.array(self).attr("__array_interface__");
}

py::capsule dlpack(const py::object& self, bool versioned, bool copied)
{
    const py::array array = self.cast<PyBlock&>().array(self);
    return dlpack_capsule(copied ? py::array(array.attr("copy")()) : array, versioned, copied);
}

} // namespace

void bind_arrays(py::module_& module, py::class_<PyBlock>& block)
{
    module.def("to_iq", &to_iq, py::arg("format"), py::arg("samples"));
    block.def("_iq", &iq, py::arg("out"))
        .def("_convert", &convert, py::arg("format"))
        .def_property_readonly(
            "__array_interface__", &array_interface,
            "NumPy's array interface for other libraries. After the first use, release() raises "
            "BufferError, because nothing signals when these libraries are done.")
        .def("_dlpack", &dlpack, py::arg("versioned"), py::arg("copied"));
}

} // namespace iio_stream::python
