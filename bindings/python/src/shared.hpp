// SPDX-License-Identifier: MIT
#pragma once

#include "reader.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace iio_stream::python {

/// A Reader or Writer for any number of Python threads: they take turns, and stop() needs no turn.
/// Thread: with the GIL; what may wait is done without it.
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
    /// Ends the stream and releases devices and memory; `drop`: waiting threads return, and samples
    /// put last may be lost. Any number of threads may call it, and get the same summary.
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
            stream_ = nullptr; // not before: another thread may stop() what is waited for
            without_gil([&] { last.reset(); });
        }
        without_gil([&] { visitors_.wait_until_none(); });
        return tuple_of(*summary_);
    }
    /// The final ones once it is closed.
    Stats stats() const
    {
        home_.check();
        return stream_ ? stream_->stats() : summary_->stats;
    }
    /// Throws if it is closed or cannot be used here.
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
        if (home_.left())
            (void)new std::shared_ptr<Stream>(std::move(stream_)); // its threads are the parent's
        const py::gil_scoped_release others;
        stream_.reset();
    }

    /// Runs what may find all blocks in the caller's hands.
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
    bool closed_ = false;            ///< changed by whose turn it is
    std::optional<Summary> summary_; ///< the same; once stream_ is null it does not change
};

/// Python's Reader and Writer of a stream that a session has.
py::object shared_reader(std::shared_ptr<Reader> reader);
py::object shared_writer(std::shared_ptr<Writer> writer);
/// What a Writer is given, by Python's words.
Format format_of(const std::string& format, const std::string& channels, double rate);

/// Binds what both kinds have.
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
