// SPDX-License-Identifier: MIT
#pragma once

#include "block.hpp"
#include "errors.hpp"
#include <iio_stream/reader.hpp>
#include <iio_stream/writer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace iio_stream::python {

/// Makes a pipeline's configuration from the dict that iio_stream._options makes.
PipelineConfig config_of(const py::dict& words);
py::dict dict_of(const Stats& stats);
py::list list_of(const std::vector<Hop>& route);
py::dict tuning_dict(const Tuning& tuning);
/// Returns the arguments of iio_stream.Summary: JSON, counters, and the exception that ended the
/// stream or None.
py::tuple tuple_of(const Summary& summary);

/// Counts the threads that are in a call that may wait. The interpreter does not wait for daemon
/// threads when it exits. A thread that returned from such a call after that would crash the
/// process, so close() waits, up to 5 s, until the threads have returned.
class Visitors {
public:
    void wait_until_none() const noexcept
    {
        for (int i = 0; i < 5000 && count_.load() != 0; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

private:
    friend class Visit;
    std::atomic<int> count_{0};
};
class Visit {
public:
    explicit Visit(Visitors& all) noexcept : all_(all) { ++all_.count_; }
    Visit(const Visit&) = delete;
    ~Visit() { --all_.count_; }

private:
    Visitors& all_;
};

/// The result of an attempt; no value if it must be repeated.
template <typename Result>
using Attempt = std::optional<Result>;

/// Calls `attempt(slice)` without the GIL until it has a result. Returns an empty Result if the
/// time runs out first. Python's signal handlers run between the slices, so that Ctrl-C works.
/// PoolExhausted is thrown only if it persists for 1 s, because another thread may release a block.
template <typename Result, typename Try>
Result wait_for(std::optional<double> timeout, Try attempt)
{
    using Clock = std::chrono::steady_clock;
    using std::chrono::nanoseconds;
    constexpr nanoseconds kSlice = std::chrono::milliseconds(50);
    constexpr nanoseconds kPatience = std::chrono::seconds(1);
    const Clock::time_point begin = Clock::now();
    const nanoseconds budget = timeout && *timeout < 1e9
                                   ? nanoseconds(static_cast<std::int64_t>(*timeout * 1e9))
                                   : kForever;
    for (;;) {
        const nanoseconds left = std::max(budget - (Clock::now() - begin), nanoseconds(0));
        const bool last = left <= kSlice;
        try {
            const py::gil_scoped_release others;
            if (Attempt<Result> result = attempt(last ? left : kSlice))
                return std::move(*result);
        } catch (const PoolExhausted&) {
            if (last || Clock::now() - begin >= kPatience)
                throw;
        }
        if (PyErr_CheckSignals() != 0)
            throw py::error_already_set();
        if (last)
            return Result{};
    }
}

} // namespace iio_stream::python
