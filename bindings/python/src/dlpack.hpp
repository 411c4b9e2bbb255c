// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/numpy.h>

namespace iio_stream::python {

/// A capsule for `__dlpack__`, of an array that it keeps alive: "dltensor_versioned" (DLPack 1.0),
/// which can say that the data are read-only or a copy, or the older "dltensor", which cannot.
/// Throws BufferError for what DLPack has no words for: structures, another byte order.
pybind11::capsule dlpack_capsule(const pybind11::array& array, bool versioned, bool copied);

} // namespace iio_stream::python
