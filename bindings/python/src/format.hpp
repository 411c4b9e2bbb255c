// SPDX-License-Identifier: MIT
#pragma once

#include <iio_stream/format.hpp>

#include <memory>
#include <pybind11/numpy.h>
#include <string>

namespace iio_stream::python {

namespace py = pybind11;

/// The layout of a format's blocks, in Python's terms. iio_stream._format creates it and chooses
/// the dtype. It holds Python objects and must be created and destroyed with the GIL.
struct Layout {
    Format format;
    py::dtype dtype;         ///< type of one value, or of a whole sample if `columns` is 0
    py::ssize_t columns = 0; ///< values per sample
    std::string code;        ///< PEP 3118's name of the dtype
    bool native = false;     ///< plain numbers in this machine's byte order, as DLPack requires
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// Returns the fields of a format, from which iio_stream.Format is made.
py::dict format_dict(const Format& format);

/// The inverse: returns the format that an iio_stream.Format describes.
Format format_from(const py::object& format);

/// Makes the layout of a format by calling iio_stream._format.layout().
LayoutPtr layout_of(const Format& format);

} // namespace iio_stream::python
