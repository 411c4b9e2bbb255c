// SPDX-License-Identifier: MIT
#include "shared.hpp"
#include <iio_stream/session.hpp>

#include <memory>
#include <mutex>
#include <pybind11/stl.h>
#include <utility>

namespace iio_stream::python {

namespace {

/// A Session for Python. One thread runs it; any thread may stop it and read its counters.
/// Thread: with the GIL, which is released for calls that may wait.
class SharedSession {
public:
    SharedSession() : session_(std::make_shared<Session>()) {}
    SharedSession(const SharedSession&) = delete;
    ~SharedSession()
    {
        if (home_.left()) // leaks the session, because only the parent has its threads
            (void)new std::shared_ptr<Session>(std::move(session_));
        const py::gil_scoped_release others;
        session_.reset();
    }

    std::size_t add(const py::dict& words) { return open()->add(config_of(words)); }
    /// The stream that is returned keeps the session alive until the stream is closed.
    py::object add_reader(const py::dict& words)
    {
        const auto session = open();
        const PipelineConfig config = config_of(words);
        return shared_reader(without_gil([&] {
            const std::lock_guard turn(turn_);
            return std::shared_ptr<Reader>(session, &session->add_reader(config));
        }));
    }
    py::object add_writer(const py::dict& words, const std::string& format,
                          const std::string& channels, double rate)
    {
        const auto session = open();
        const PipelineConfig config = config_of(words);
        const Format samples = format_of(format, channels, rate);
        return shared_writer(without_gil([&] {
            const std::lock_guard turn(turn_);
            return std::shared_ptr<Writer>(session, &session->add_writer(config, samples));
        }));
    }
    void prepare()
    {
        const auto session = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        session->prepare();
    }
    void start()
    {
        const auto session = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        session->start();
    }
    /// Returns whether all pipelines ended in time.
    bool wait(std::optional<double> timeout)
    {
        const auto session = open();
        return wait_for<bool>(timeout, [&](std::chrono::nanoseconds slice) -> Attempt<bool> {
            const std::unique_lock turn(turn_, slice);
            return turn && session->wait(slice) ? Attempt<bool>(true) : std::nullopt;
        });
    }
    void stop(bool abort)
    {
        const auto session = open();
        session->request_stop(); // wakes waiting threads
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        session->stop(abort ? Stop::abort : Stop::drain);
    }
    /// Releases devices and memory. A traceback can keep this object itself alive much longer.
    void close()
    {
        auto last = std::exchange(session_, nullptr);
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        last.reset();
    }
    void request_stop() const { open()->request_stop(); }
    std::size_t size() const { return open()->size(); }
    Pipeline& at(std::size_t index) const
    {
        if (index >= size())
            throw py::index_error("there is no pipeline " + std::to_string(index));
        return (*open())[index];
    }

private:
    std::shared_ptr<Session> open() const
    {
        home_.check();
        if (!session_)
            throw py::value_error("the session is closed");
        return session_;
    }

    Home home_;
    std::shared_ptr<Session> session_;
    std::timed_mutex turn_;
};

} // namespace

void bind_session(py::module_& module)
{
    py::class_<SharedSession>(module, "Session")
        .def(py::init<>())
        .def("add", &SharedSession::add, py::arg("words"))
        .def("add_reader", &SharedSession::add_reader, py::arg("words"))
        .def("add_writer", &SharedSession::add_writer, py::arg("words"), py::arg("format"),
             py::arg("channels"), py::arg("rate"))
        .def("prepare", &SharedSession::prepare)
        .def("start", &SharedSession::start)
        .def("wait", &SharedSession::wait, py::arg("timeout"))
        .def("stop", &SharedSession::stop, py::arg("abort"))
        .def("close", &SharedSession::close)
        .def("request_stop", &SharedSession::request_stop)
        .def("__len__", &SharedSession::size)
        .def("format",
             [](const SharedSession& s, std::size_t i) { return format_dict(s.at(i).format()); })
        .def("route",
             [](const SharedSession& s, std::size_t i) { return list_of(s.at(i).route()); })
        .def("stats",
             [](const SharedSession& s, std::size_t i) { return dict_of(s.at(i).stats()); })
        .def("ended", [](const SharedSession& s, std::size_t i) { return s.at(i).ended(); })
        .def("request_stop_of",
             [](const SharedSession& s, std::size_t i) { s.at(i).request_stop(); })
        .def("summary",
             [](const SharedSession& s, std::size_t i) { return tuple_of(s.at(i).summary()); });
}

} // namespace iio_stream::python
