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

py::array iq(const PyBlock& block, const py::object& out)
{
    const Converter converter(block.layout().format, "cf32_le");
    const auto pairs = static_cast<py::ssize_t>(converter.from().channels.size() / 2);
    constexpr py::ssize_t kItem = sizeof(std::complex<float>);
    std::vector<py::ssize_t> shape{block.samples()}, strides{kItem * pairs};
    if (pairs != 1) {
        shape.push_back(pairs);
        strides.push_back(kItem);
    }
    py::array array = out.is_none()
                          ? py::array(py::dtype::of<std::complex<float>>(), shape, strides)
                          : checked(out, shape);
    convert_into(block, converter, array);
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

void bind_arrays(py::class_<PyBlock>& block)
{
    block.def("_iq", &iq, py::arg("out"))
        .def("_convert", &convert, py::arg("format"))
        .def_property_readonly(
            "__array_interface__", &array_interface,
            "NumPy's array interface for other libraries. After the first use, release() raises "
            "BufferError, because nothing signals when these libraries are done.")
        .def("_dlpack", &dlpack, py::arg("versioned"), py::arg("copied"));
}

} // namespace iio_stream::python
