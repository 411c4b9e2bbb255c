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

py::object made_of(const Error& error, const py::object& held)
{
    return py::module_::import("iio_stream._errors")
        .attr("make")(name_of(error.fault()), error.code().value(), error.operation(),
                      error.object(), error.detail(), error.hint(), error.what(), held);
}

void raise(const py::object& made)
{
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
}

} // namespace

py::object exception_of(const Error& error)
{
    return made_of(error, py::none());
}

void bind_errors(py::module_&)
{
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            std::rethrow_exception(std::move(pointer));
        } catch (const PoolExhausted& error) {
            raise(made_of(error, py::int_(error.held)));
        } catch (const Error& error) {
            raise(exception_of(error));
        }
    });
}

} // namespace iio_stream::python
