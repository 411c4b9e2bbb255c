// SPDX-License-Identifier: MIT
#include "shared.hpp"

#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

using Taken = std::optional<Block>;

class SharedReader : public Shared<Reader> {
public:
    explicit SharedReader(std::shared_ptr<Reader> reader) : Shared(std::move(reader)) {}

    std::unique_ptr<PyBlock> next(std::optional<double> timeout)
    {
        const auto reader = open();
        const Visit visit(visitors_);
        Taken next =
            wait_for<Taken>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<Taken> {
                const std::unique_lock turn(turn_, slice);
                return turn ? told(*reader, [&] { return take(*reader, slice); }) : std::nullopt;
            });
        if (!next)
            return nullptr;
        const std::size_t bytes = next->bytes();
        return std::make_unique<PyBlock>(std::move(*next), layout_, bytes);
    }

    bool ended() const noexcept { return ended_; }

private:
    Attempt<Taken> take(Reader& reader, std::chrono::nanoseconds budget)
    try {
        Next<Block> found = reader.next(budget);
        ended_ = reader.ended();
        return found.timed_out() ? std::nullopt : Attempt<Taken>(Taken(std::move(found)));
    } catch (const Error&) {
        ended_ = reader.ended();
        throw;
    }

    std::atomic<bool> ended_{false};
};

} // namespace

py::object shared_reader(std::shared_ptr<Reader> reader)
{
    return py::cast(std::make_unique<SharedReader>(std::move(reader)));
}

void bind_reader(py::module_& module)
{
    py::class_<SharedReader> type(module, "Reader");
    type.def(py::init([](const py::dict& words) {
                 const PipelineConfig config = config_of(words);
                 return std::make_unique<SharedReader>(
                     without_gil([&] { return std::make_shared<Reader>(config); }));
             }),
             py::arg("words"))
        .def("next", &SharedReader::next, py::arg("timeout"))
        .def_property_readonly("ended", &SharedReader::ended)
        .def_property_readonly(
            "tuning", [](const SharedReader& r) { return tuning_dict(r.open()->tuning()); });
    bind_shared(type);
}

} // namespace iio_stream::python
