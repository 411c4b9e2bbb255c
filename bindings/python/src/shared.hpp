// SPDX-License-Identifier: MIT
#pragma once

#include "reader.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace iio_stream::python {

/// A Reader or Writer for any number of Python threads. They take turns; stop() does not wait for a
/// turn. Thread: with the GIL, which is released for calls that may wait.
template <typename Stream>
class Shared {
public:
    Shared(const Shared&) = delete;

    void start()
    {
        const auto stream = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        if (closed_) // while this thread waited for its turn
            throw py::value_error("the stream is closed");
        stream->start();
    }
    void stop() const { open()->stop(); }
    /// Ends the stream and releases devices and memory. With `drop`, waiting threads return, and
    /// the last samples put may be lost. Any number of threads may call it; all get the same
    /// summary.
    py::tuple close(bool drop)
    {
        home_.check();
        if (std::shared_ptr<Stream> last = stream_) {
            if (drop)
                last->stop();
            without_gil([&] {
                const std::lock_guard turn(turn_);
                closed_ = true;
                if (!summary_)
                    summary_ = last->close();
            });
            stream_ = nullptr; // not earlier: another thread may call stop() during the wait
            without_gil([&] { last.reset(); });
        }
        without_gil([&] { visitors_.wait_until_none(); });
        return tuple_of(*summary_);
    }
    /// Returns the counters; the final ones after close().
    Stats stats() const
    {
        home_.check();
        return stream_ ? stream_->stats() : summary_->stats;
    }
    /// Returns the stream. Throws if it is closed, or in a child that was forked later.
    std::shared_ptr<Stream> open() const
    {
        home_.check();
        if (!stream_)
            throw py::value_error("the stream is closed");
        return stream_;
    }

protected:
    explicit Shared(std::shared_ptr<Stream> stream)
        : layout_(layout_of(stream->format())), stream_(std::move(stream))
    {}
    ~Shared()
    {
        if (home_.left()) // leaks the stream, because only the parent has its threads
            (void)new std::shared_ptr<Stream>(std::move(stream_));
        const py::gil_scoped_release others;
        stream_.reset();
    }

    /// Calls a function. If its error is that the caller holds all blocks, converts the error to
    /// PoolExhausted.
    template <typename Call>
    static auto told(Stream& stream, Call call) -> decltype(call())
    try {
        return call();
    } catch (const Error& error) {
        if (error.code().value() == ENOBUFS && error.fault() == Fault::usage)
            throw PoolExhausted(error, stream.held());
        throw;
    }

    std::timed_mutex turn_;
    Visitors visitors_;
    LayoutPtr layout_;

private:
    Home home_;
    std::shared_ptr<Stream> stream_;
    bool closed_ = false;            ///< guarded by turn_
    std::optional<Summary> summary_; ///< guarded by turn_; constant once stream_ is null
};

/// Make the Python Reader or Writer of a stream that belongs to a session.
py::object shared_reader(std::shared_ptr<Reader> reader);
py::object shared_writer(std::shared_ptr<Writer> writer);
/// Makes the format of a Writer's samples from Python's arguments.
Format format_of(const std::string& format, const std::string& channels, double rate);

/// Binds the common methods of readers and writers.
template <typename Bound>
void bind_shared(py::class_<Bound>& type)
{
    type.def("start", [](Bound& b) { b.start(); })
        .def("stop", [](const Bound& b) { b.stop(); })
        .def(
            "close", [](Bound& b, bool drop) { return b.close(drop); }, py::arg("drop"))
        .def_property_readonly("fd", [](const Bound& b) { return b.open()->fd(); })
        .def_property_readonly("held", [](const Bound& b) { return b.open()->held(); })
        .def_property_readonly("format",
                               [](const Bound& b) { return format_dict(b.open()->format()); })
        .def_property_readonly("route", [](const Bound& b) { return list_of(b.open()->route()); })
        .def_property_readonly("stats", [](const Bound& b) { return dict_of(b.stats()); });
}

} // namespace iio_stream::python
