// SPDX-License-Identifier: MIT
#pragma once

#include "reader.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

namespace iio_stream::python {

/// A Reader or Writer for any number of Python threads: they take turns, and stop() needs no turn.
/// Thread: with the GIL; what may wait is done without it.
template <typename Stream>
class Shared {
public:
    Shared(const Shared&) = delete;

    void stop() const { open()->stop(); }
    void close()
    {
        auto last = std::exchange(stream_, nullptr);
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
    std::shared_ptr<Stream> open() const
    {
        home_.check();
        if (!stream_)
            throw py::value_error("the stream is closed");
        return stream_;
    }

protected:
    /// `parts`: what a Stream is made of.
    template <typename... Parts>
    explicit Shared(Parts&&... parts)
    {
        stream_ = without_gil([&] { return std::make_shared<Stream>(std::forward<Parts>(parts)...); });
        layout_ = layout_of(stream_->format());
    }
    ~Shared()
    {
        if (home_.left())
            (void)new std::shared_ptr<Stream>(std::move(stream_)); // its threads are the parent's
        const py::gil_scoped_release others;
        stream_.reset();
    }

    enum class When { not_yet, always }; ///< not_yet: unless another thread was quicker
    /// `then()` still in the same turn.
    template <typename Then>
    void start_and(When when, Then then)
    {
        const auto stream = open();
        const py::gil_scoped_release others;
        const std::lock_guard turn(turn_);
        if (closed_) // while this thread waited for its turn
            throw py::value_error("the stream is closed");
        if (started_ && when == When::not_yet)
            return;
        stream->start();
        started_ = true;
        then();
    }
    py::tuple finish(const std::shared_ptr<Stream>& stream)
    {
        return tuple_of(without_gil([&] {
            const std::lock_guard turn(turn_);
            return stream->finish();
        }));
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
    std::atomic<bool> started_{false};
    LayoutPtr layout_;

private:
    Home home_;
    std::shared_ptr<Stream> stream_;
    bool closed_ = false; ///< changed by whose turn it is
};

/// Binds what both kinds have.
template <typename Bound>
void bind_shared(py::class_<Bound>& type)
{
    type.def("start", [](Bound& b) { b.start(); })
        .def("stop", [](const Bound& b) { b.stop(); })
        .def("finish", &Bound::finish)
        .def("close", [](Bound& b) { b.close(); })
        .def_property_readonly("fd", [](const Bound& b) { return b.open()->fd(); })
        .def_property_readonly("held", [](const Bound& b) { return b.open()->held(); })
        .def_property_readonly("format",
                               [](const Bound& b) { return format_dict(b.open()->format()); })
        .def_property_readonly("route", [](const Bound& b) { return list_of(b.open()->route()); })
        .def_property_readonly("stats", [](const Bound& b) { return dict_of(b.open()->stats()); });
}

} // namespace iio_stream::python
