// SPDX-License-Identifier: MIT
#include "shared.hpp"

#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

using Next = std::optional<Block>;

class SharedReader : public Shared<Reader> {
public:
    SharedReader(const py::dict& words, bool drop)
        : Shared(config_of(words), drop ? OnFull::drop : OnFull::block)
    {}

    void start(When when = When::always)
    {
        start_and(when, [&] { ended_ = false; });
    }
    std::unique_ptr<PyBlock> next(std::optional<double> timeout)
    {
        const auto reader = open();
        const Visit visit(visitors_);
        if (!started_)
            start(When::not_yet);
        Next next = wait_for<Next>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<Next> {
            const std::unique_lock turn(turn_, slice);
            return turn ? told(*reader, [&] { return take(*reader, slice); }) : std::nullopt;
        });
        if (!next)
            return nullptr;
        const std::size_t bytes = next->bytes();
        return std::make_unique<PyBlock>(std::move(*next), layout_, bytes);
    }
    py::tuple finish()
    {
        const auto reader = open();
        reader->stop();
        return Shared::finish(reader);
    }

    bool ended() const noexcept { return ended_; }

private:
    Attempt<Next> take(Reader& reader, std::chrono::nanoseconds budget)
    try {
        Next found = reader.next(budget);
        ended_ = reader.ended();
        return found || ended_ ? Attempt<Next>(std::move(found)) : std::nullopt;
    } catch (const Error&) {
        ended_ = reader.ended();
        throw;
    }

    std::atomic<bool> ended_{false};
};

} // namespace

void bind_reader(py::module_& module)
{
    py::class_<SharedReader> type(module, "Reader");
    type.def(py::init<const py::dict&, bool>(), py::arg("words"), py::arg("drop"))
        .def("next", &SharedReader::next, py::arg("timeout"))
        .def_property_readonly("ended", &SharedReader::ended)
        .def_property_readonly("tuning",
                               [](const SharedReader& r) { return tuning_dict(r.open()->tuning()); });
    bind_shared(type);
}

} // namespace iio_stream::python
