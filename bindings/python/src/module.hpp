// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

namespace iio_stream::python {

namespace py = pybind11;

/// Each function binds the types and functions of the source file of that name.
void bind_errors(py::module_& module);
void bind_format(py::module_& module);
void bind_block(py::module_& module);
void bind_reader(py::module_& module);
void bind_writer(py::module_& module);
void bind_session(py::module_& module);
void bind_device(py::module_& module);
void bind_gadget(py::module_& module);
void bind_bench(py::module_& module);
void bind_recording(py::module_& module);

/// Returns a text as a Python object; None if it is empty.
inline py::object or_none(const std::string& text)
{
    return text.empty() ? py::none() : py::object(py::str(text));
}

/// Calls a function without the GIL, so that other Python threads run if it takes a long time.
template <typename Call>
auto without_gil(Call call)
{
    const py::gil_scoped_release others;
    return call();
}

/// Records the process in which an object was made. In a child that was forked later, the object
/// can neither be used nor destroyed, because the library's threads exist only in the parent.
class Home {
public:
    Home() noexcept;
    bool left() const noexcept;
    /// Throws a Python RuntimeError in such a child.
    void check() const;

private:
    unsigned generation_;
};

} // namespace iio_stream::python
