// SPDX-License-Identifier: MIT
#include "reader.hpp"

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <pybind11/stl.h>
#include <utility>

namespace iio_stream::python {

namespace {

using Next = std::optional<Filled>;

/// A Reader for any number of Python threads: they take turns, and stop() needs no turn.
/// Thread: with the GIL; what may wait is done without it.
class SharedReader {
public:
    SharedReader(const py::dict& words, bool drop)
    {
        PipelineConfig config = config_of(words);
        {
            const py::gil_scoped_release others;
            reader_ =
                std::make_shared<Reader>(std::move(config), drop ? OnFull::drop : OnFull::block);
        }
        layout_ = layout_of(reader_->format());
    }
    SharedReader(const SharedReader&) = delete;
    ~SharedReader()
    {
        if (forked())
            (void)new std::shared_ptr<Reader>(std::move(reader_)); // its threads are the parent's
        const py::gil_scoped_release others;
        reader_.reset();
    }

    void start()
    {
        const auto reader = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        if (closed_) // while this thread waited for its turn
            throw py::value_error("the stream is closed");
        reader->start();
        started_ = true;
        ended_ = false;
    }
    std::unique_ptr<FullBlock> next(std::optional<double> timeout)
    {
        const auto reader = open();
        const Visit visit(visitors_);
        if (!started_)
            start();
        Next next = wait_for<Next>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<Next> {
            const std::unique_lock turn(turn_, slice);
            if (!turn)
                return std::nullopt;
            return take(*reader, slice);
        });
        if (!next)
            return nullptr;
        const std::size_t bytes = next->bytes();
        return std::make_unique<FullBlock>(std::move(*next), layout_, bytes);
    }
    void stop() const { open()->stop(); }
    py::tuple finish()
    {
        const auto reader = open();
        reader->stop();
        return tuple_of(without_gil([&] {
            const std::lock_guard turn(turn_);
            return reader->finish();
        }));
    }
    void close()
    {
        auto last = std::exchange(reader_, nullptr);
        if (!last)
            return;
        last->stop(); // whoever waits for a block leaves
        const py::gil_scoped_release others;
        {
            const std::lock_guard turn(turn_);
            closed_ = true;
            (void)last->finish();
        }
        last.reset();
        visitors_.wait_until_none();
    }
    /// Throws where it is closed or cannot be used here.
    std::shared_ptr<Reader> open() const
    {
        refuse_forked();
        if (!reader_)
            throw py::value_error("the stream is closed");
        return reader_;
    }

    bool ended() const noexcept { return ended_; }

private:
    Attempt<Next> take(Reader& reader, std::chrono::nanoseconds budget)
    try {
        Next found = reader.next(budget);
        ended_ = reader.ended();
        return found || ended_ ? Attempt<Next>(std::move(found)) : std::nullopt;
    } catch (const Error& error) {
        ended_ = reader.ended();
        if (error.code().value() == ENOBUFS && error.fault() == Fault::usage)
            throw PoolExhausted(error, reader.held());
        throw;
    }

    std::shared_ptr<Reader> reader_;
    std::timed_mutex turn_;
    Visitors visitors_;
    bool closed_ = false; ///< changed by whose turn it is
    std::atomic<bool> started_{false}, ended_{false};
    LayoutPtr layout_;
};

} // namespace

void bind_reader(py::module_& module)
{
    py::class_<SharedReader>(module, "Reader")
        .def(py::init<const py::dict&, bool>(), py::arg("words"), py::arg("drop"))
        .def("start", &SharedReader::start)
        .def("next", &SharedReader::next, py::arg("timeout"))
        .def("stop", &SharedReader::stop)
        .def("finish", &SharedReader::finish)
        .def("close", &SharedReader::close)
        .def_property_readonly("ended", &SharedReader::ended)
        .def_property_readonly("fd", [](const SharedReader& r) { return r.open()->fd(); })
        .def_property_readonly("held", [](const SharedReader& r) { return r.open()->held(); })
        .def_property_readonly(
            "format", [](const SharedReader& r) { return format_dict(r.open()->format()); })
        .def_property_readonly("route",
                               [](const SharedReader& r) { return list_of(r.open()->route()); })
        .def_property_readonly("stats",
                               [](const SharedReader& r) { return dict_of(r.open()->stats()); });
}

} // namespace iio_stream::python
