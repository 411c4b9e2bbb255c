// SPDX-License-Identifier: MIT
#pragma once

#include <iio_stream/format.hpp>

#include <memory>
#include <pybind11/numpy.h>
#include <string>

namespace iio_stream::python {

namespace py = pybind11;

/// How Python sees blocks of a format; made by iio_stream._format, where the dtype is chosen.
/// Holds Python objects: made and destroyed with the GIL.
struct Layout {
    Format format;
    py::dtype dtype;         ///< of one value, or of a whole sample where `columns` is 0
    py::ssize_t columns = 0; ///< values per sample
    std::string code;        ///< PEP 3118's name of the dtype
    bool native = false;     ///< DLPack can describe it: plain numbers in this machine's byte order
};

using LayoutPtr = std::shared_ptr<const Layout>;

/// All of a format as iio_stream.Format takes it.
py::dict format_dict(const Format& format);

/// The LayoutPtr of a format, by iio_stream._format.layout().
LayoutPtr layout_of(const Format& format);

} // namespace iio_stream::python
