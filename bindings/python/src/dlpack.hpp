// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/numpy.h>

namespace iio_stream::python {

/// Returns a capsule for `__dlpack__`. It keeps the array alive. The result is a
/// "dltensor_versioned" (DLPack 1.0), which can mark the data as read-only or as a copy, or the
/// older "dltensor", which cannot. Throws BufferError for arrays that DLPack does not support:
/// structures and other byte orders.
pybind11::capsule dlpack_capsule(const pybind11::array& array, bool versioned, bool copied);

} // namespace iio_stream::python
