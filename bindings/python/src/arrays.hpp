// SPDX-License-Identifier: MIT
#pragma once

#include "block.hpp"

namespace iio_stream::python {

/// Binds the functions that make arrays from a full block: converted, complex, and for other
/// libraries. Binds to_iq() to the module.
void bind_arrays(py::module_& module, py::class_<PyBlock>& block);

} // namespace iio_stream::python
