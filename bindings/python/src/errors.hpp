// SPDX-License-Identifier: MIT
#pragma once

#include <iio_stream/error.hpp>

#include <cstddef>
#include <pybind11/pybind11.h>

namespace iio_stream::python {

/// The caller holds all blocks, `held` of them, so none can come.
struct PoolExhausted : Error {
    PoolExhausted(const Error& error, std::size_t count) : Error(error), held(count) {}
    std::size_t held;
};

/// The Python exception for it.
pybind11::object exception_of(const Error& error);

} // namespace iio_stream::python
