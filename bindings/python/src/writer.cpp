// SPDX-License-Identifier: MIT
#include "shared.hpp"

#include <pybind11/stl.h>
#include <span>

namespace iio_stream::python {

namespace {

using Take = std::optional<EmptyBlock>;

class SharedWriter : public Shared<Writer> {
public:
    explicit SharedWriter(std::shared_ptr<Writer> writer) : Shared(std::move(writer)) {}

    std::unique_ptr<PyEmptyBlock> take(std::optional<double> timeout)
    {
        const auto writer = open();
        const Visit visit(visitors_);
        Take block = wait_for<Take>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<Take> {
            const std::unique_lock turn(turn_, slice);
            return turn ? told(*writer,
                               [&]() -> Attempt<Take> {
                                   Next<EmptyBlock> found = writer->take(slice);
                                   return found.timed_out() ? std::nullopt
                                                            : Attempt<Take>(Take(std::move(found)));
                               })
                        : std::nullopt;
        });
        if (!block)
            return nullptr;
        const std::size_t item = layout_->format.sample_bytes;
        const std::size_t bytes = block->capacity() / item * item;
        return std::make_unique<PyEmptyBlock>(std::move(*block), layout_, bytes);
    }
    /// Sends the first `samples` samples of a block to the sinks; without a value, all of them.
    void put(PyEmptyBlock& block, std::optional<std::size_t> samples)
    {
        const auto writer = open();
        const auto room = static_cast<std::size_t>(block.samples());
        if (samples.value_or(0) > room)
            throw py::value_error(std::to_string(*samples) + " samples in a block of " +
                                  std::to_string(room));
        EmptyBlock given = block.surrender();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        writer->put(std::move(given), samples.value_or(room));
    }
    /// Returns the number of samples for which there was room in time.
    std::size_t write(const py::buffer& samples, std::optional<double> timeout)
    {
        const auto writer = open();
        const Visit visit(visitors_);
        const py::buffer_info info = contiguous(samples);
        const std::span<const std::byte> all(static_cast<const std::byte*>(info.ptr),
                                             static_cast<std::size_t>(info.size * info.itemsize));
        std::size_t done = 0;
        (void)wait_for<bool>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<bool> {
            const std::unique_lock turn(turn_, slice);
            if (!turn)
                return std::nullopt;
            return told(*writer, [&]() -> Attempt<bool> {
                done += writer->write(all.subspan(done), slice);
                return done == all.size() || writer->ended() ? Attempt<bool>(true) : std::nullopt;
            });
        });
        return done / layout_->format.sample_bytes;
    }
    void flush()
    {
        const auto writer = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        writer->flush();
    }
    void end()
    {
        const auto writer = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        writer->end();
    }

private:
    static py::buffer_info contiguous(const py::buffer& samples)
    {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
        auto view = std::make_unique<Py_buffer>();
        if (PyObject_GetBuffer(samples.ptr(), view.get(), flags) != 0)
            throw py::error_already_set();
        return py::buffer_info(view.release());
    }
};

void bind_empty_block(py::module_& module)
{
    py::class_<PyEmptyBlock>(
        module, "EmptyBlock", with_buffer<PyEmptyBlock>(),
        "A block to be filled for transmission: the device's own memory. Writer.put() sends its "
        "samples to the sinks. If it is destroyed instead, the memory goes back unused.")
        .def_property_readonly(
            "array", [](const py::object& self) { return self.cast<PyEmptyBlock&>().array(self); },
            "A writable view, no copy: shape (samples, channels), or (samples,) with a structured "
            "dtype if channels differ.")
        .def("_release", &PyEmptyBlock::release)
        .def_property_readonly("released", &PyEmptyBlock::released)
        .def_property_readonly(
            "index", [](const PyEmptyBlock& b) { return b.lease().index(); },
            "the number of the buffer in its pool")
        .def_property_readonly("nbytes", &PyEmptyBlock::bytes)
        .def("__len__", &PyEmptyBlock::samples, "the number of samples for which it has room");
}

} // namespace

Format format_of(const std::string& format, const std::string& channels, double rate)
{
    Format samples = Format::parse(format, channels);
    samples.sample_rate = rate;
    return samples;
}

py::object shared_writer(std::shared_ptr<Writer> writer)
{
    return py::cast(std::make_unique<SharedWriter>(std::move(writer)));
}

void bind_writer(py::module_& module)
{
    bind_empty_block(module);
    py::class_<SharedWriter> type(module, "Writer");
    type.def(py::init([](const py::dict& words, const std::string& format,
                         const std::string& channels, double rate) {
                 const PipelineConfig config = config_of(words);
                 const Format samples = format_of(format, channels, rate);
                 return std::make_unique<SharedWriter>(
                     without_gil([&] { return std::make_shared<Writer>(config, samples); }));
             }),
             py::arg("words"), py::arg("format"), py::arg("channels"), py::arg("rate"))
        .def("take", &SharedWriter::take, py::arg("timeout"))
        .def("put", &SharedWriter::put, py::arg("block"), py::arg("samples"))
        .def("write", &SharedWriter::write, py::arg("samples"), py::arg("timeout"))
        .def("flush", &SharedWriter::flush)
        .def("end", &SharedWriter::end)
        .def_property_readonly("ended", [](const SharedWriter& w) { return w.open()->ended(); });
    bind_shared(type);
}

} // namespace iio_stream::python
