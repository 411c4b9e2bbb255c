// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

namespace iio_stream::python {

namespace py = pybind11;

/// Each binds what the file of its name is about.
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

/// Text, or None if there is none.
inline py::object or_none(const std::string& text)
{
    return text.empty() ? py::none() : py::object(py::str(text));
}

/// Runs what may take its time while other Python threads run.
template <typename Call>
auto without_gil(Call call)
{
    const py::gil_scoped_release others;
    return call();
}

/// Which process an object was made in. In a fork() of it the object can neither be used nor ended:
/// the library's threads were left behind.
class Home {
public:
    Home() noexcept;
    bool left() const noexcept;
    /// Throws a Python RuntimeError if it was left.
    void check() const;

private:
    unsigned generation_;
};

} // namespace iio_stream::python
