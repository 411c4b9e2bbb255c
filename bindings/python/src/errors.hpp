// SPDX-License-Identifier: MIT
#pragma once

#include <iio_stream/error.hpp>

#include <cstddef>
#include <pybind11/pybind11.h>

namespace iio_stream::python {

/// No block can arrive because the caller holds all of them; `held` is their number.
struct PoolExhausted : Error {
    PoolExhausted(const Error& error, std::size_t count) : Error(error), held(count) {}
    std::size_t held;
};

/// Returns the Python exception for an Error.
pybind11::object exception_of(const Error& error);

} // namespace iio_stream::python
