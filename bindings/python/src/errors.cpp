// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include "module.hpp"

namespace iio_stream::python {

namespace {

const char* name_of(Fault fault)
{
    static constexpr const char* kNames[] = {"usage", "device", "storage", "samples", "other"};
    return kNames[static_cast<int>(fault)];
}

void raise(const Error& error, py::object held)
{
    const py::object made = py::module_::import("iio_stream._errors")
                                .attr("make")(name_of(error.fault()), error.code().value(),
                                              error.operation(), error.object(), error.detail(),
                                              error.hint(), error.what(), std::move(held));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

} // namespace

void bind_errors(py::module_&)
{
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            std::rethrow_exception(std::move(pointer));
        } catch (const PoolExhausted& error) {
            raise(error, py::int_(error.held));
        } catch (const Error& error) {
            raise(error, py::none());
        }
    });
}

} // namespace iio_stream::python
