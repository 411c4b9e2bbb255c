// SPDX-License-Identifier: MIT
#include "module.hpp"
#include "reader.hpp"
#include <iio_stream/bench.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

/// Runs the measurement on its own thread, because a row takes seconds and Python's signal handlers
/// must run meanwhile. The destructor ends the measurement.
class IoBenchRun {
public:
    explicit IoBenchRun(const IoBench& what) : thread_([this, what] { run(what); }) {}
    IoBenchRun(const IoBenchRun&) = delete;
    ~IoBenchRun()
    {
        const py::gil_scoped_release others;
        stop_ = true;
        thread_.join();
    }

    /// Waits for the next row and returns it; no value after the last one. Throws the error that
    /// ended the measurement, and the exception of a Python signal handler, such as Ctrl-C.
    std::optional<IoRow> next()
    {
        using Row = std::optional<IoRow>;
        return wait_for<Row>(std::nullopt, [&](std::chrono::nanoseconds slice) -> Attempt<Row> {
            std::unique_lock lock(mutex_);
            if (!news_.wait_for(lock, slice, [&] { return done_ || !rows_.empty(); }))
                return std::nullopt;
            if (rows_.empty()) {
                if (failure_)
                    std::rethrow_exception(failure_);
                return Attempt<Row>(std::in_place);
            }
            Row row = std::move(rows_.front());
            rows_.pop_front();
            return Attempt<Row>(std::move(row));
        });
    }

private:
    void run(const IoBench& what)
    {
        std::exception_ptr failure;
        try {
            bench_io(
                what,
                [&](const IoRow& row) {
                    const std::lock_guard lock(mutex_);
                    rows_.push_back(row);
                    news_.notify_one();
                    return true;
                },
                stop_);
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        failure_ = failure;
        done_ = true;
        news_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<IoRow> rows_;
    bool done_ = false;
    std::exception_ptr failure_;
    std::atomic<bool> stop_{false};
    std::thread thread_; ///< declared last, because it uses the other members
};

py::dict row_dict(const IoRow& row)
{
    using namespace py::literals;
    return py::dict("memory"_a = row.memory, "page_bytes"_a = row.page_bytes,
                    "method"_a = row.method, "direction"_a = row.direction,
                    "create_seconds"_a = row.create_seconds, "io_seconds"_a = row.io_seconds,
                    "close_seconds"_a = row.close_seconds, "cpu_seconds"_a = row.cpu_seconds,
                    "checked"_a = row.checked,
                    "error"_a = row.error ? exception_of(*row.error) : py::none());
}

// A number of 0 selects the library's default.
void bench_to(const std::string& file, bool overwrite, std::size_t bytes, std::size_t block_size,
              std::size_t depth, const py::function& seen)
{
    IoBench what;
    what.file = file;
    what.overwrite = overwrite;
    if (bytes != 0)
        what.bytes = bytes;
    if (block_size != 0)
        what.block_size = block_size;
    if (depth != 0)
        what.depth = depth;
    IoBenchRun run(what);
    while (const std::optional<IoRow> row = run.next())
        seen(row_dict(*row), what.bytes);
}

py::object check_thresholds(const py::dict& counters, std::optional<std::uint64_t> max_gaps,
                            std::optional<std::uint64_t> max_lost, std::optional<double> min_rate)
{
    Stats stats;
    stats.samples = counters["samples"].cast<std::uint64_t>();
    stats.blocks = counters["blocks"].cast<std::uint64_t>();
    stats.source_seconds = counters["source_seconds"].cast<double>();
    const py::dict gaps = counters["gaps"];
    stats.gaps.certain = gaps["certain"].cast<std::uint64_t>();
    stats.gaps.possible = gaps["possible"].cast<std::uint64_t>();
    stats.gaps.lost_max = gaps["lost_max"].cast<std::optional<std::uint64_t>>().value_or(kUnknown);
    for (const py::handle sink : counters["sinks"])
        stats.sinks.push_back({.dropped_samples = sink["dropped_samples"].cast<std::uint64_t>()});
    const auto error = Thresholds{max_gaps, max_lost, min_rate}.check(stats);
    return error ? exception_of(*error) : py::none();
}

} // namespace

void bind_bench(py::module_& module)
{
    module.def("bench_io", &bench_to, py::arg("file"), py::arg("overwrite"), py::arg("bytes"),
               py::arg("block_bytes"), py::arg("depth"), py::arg("seen"));
    module.def("check_thresholds", &check_thresholds, py::arg("stats"), py::arg("max_gaps"),
               py::arg("max_lost"), py::arg("min_rate"));
}

} // namespace iio_stream::python
