// SPDX-License-Identifier: MIT
#include "reader.hpp"

#include <pybind11/stl.h>

namespace iio_stream::python {

namespace {

OnGap on_gap_of(const std::string& word)
{
    return word == "stop" ? OnGap::stop : word == "zero-fill" ? OnGap::zero_fill : OnGap::mark;
}

template <typename T>
py::object known(T value, bool is_known)
{
    return is_known ? py::cast(value) : py::none();
}

py::dict dict_of(const SinkStats& sink)
{
    using namespace py::literals;
    py::dict made("delivered_samples"_a = sink.delivered_samples,
                  "dropped_samples"_a = sink.dropped_samples, "bytes"_a = sink.bytes,
                  "lag_high_water"_a = sink.lag_high_water, "playback"_a = py::none());
    if (sink.playback)
        made["playback"] = py::dict("underflows"_a = sink.playback->underflows,
                                    "repeats"_a = sink.playback->repeats,
                                    "unverified_blocks"_a = sink.playback->unverified_blocks,
                                    "rate"_a = sink.playback->rate,
                                    "cyclic"_a = known(name_of(sink.playback->repeating),
                                                       sink.playback->repeating != Repeating::no));
    return made;
}

} // namespace

PipelineConfig config_of(const py::dict& words)
{
    PipelineConfig config;
    config.source = words["source"].cast<std::string>();
    for (const std::string& sink : words["sinks"].cast<std::vector<std::string>>())
        config.sinks.emplace_back(sink);
    config.block_size = words["block_size"].cast<std::size_t>();
    config.blocks = words["blocks"].cast<std::size_t>();
    config.samples = words["samples"].cast<std::uint64_t>();
    config.bytes = words["bytes"].cast<std::uint64_t>();
    config.duration = std::chrono::nanoseconds(words["duration_ns"].cast<std::int64_t>());
    config.timeout = std::chrono::nanoseconds(words["timeout_ns"].cast<std::int64_t>());
    config.on_gap = on_gap_of(words["on_gap"].cast<std::string>());
    config.on_full = words["on_full"].cast<std::string>() == "drop" ? OnFull::drop : OnFull::block;
    return config;
}

py::dict dict_of(const Stats& stats)
{
    using namespace py::literals;
    py::list sinks;
    for (const SinkStats& sink : stats.sinks)
        sinks.append(dict_of(sink));
    const GapTotals& gaps = stats.gaps;
    return py::dict(
        "samples"_a = stats.samples, "bytes"_a = stats.bytes, "blocks"_a = stats.blocks,
        "seconds"_a = stats.seconds, "source_seconds"_a = stats.source_seconds, "sinks"_a = sinks,
        "gaps"_a = py::dict("certain"_a = gaps.certain, "possible"_a = gaps.possible,
                            "lost_min"_a = gaps.lost_min,
                            "lost_max"_a = known(gaps.lost_max, gaps.lost_max != kUnknown)));
}

py::dict tuning_dict(const Tuning& tuning)
{
    using namespace py::literals;
    return py::dict("frequency"_a = tuning.frequency, "gain"_a = tuning.gain,
                    "bandwidth"_a = tuning.bandwidth, "rate"_a = tuning.rate,
                    "antenna"_a = known(tuning.antenna, !tuning.antenna.empty()),
                    "agc"_a = known(tuning.agc, !tuning.agc.empty()),
                    "hardware"_a = known(tuning.hardware, !tuning.hardware.empty()),
                    "remarks"_a = py::tuple(py::cast(tuning.remarks)));
}

py::list list_of(const std::vector<Hop>& route)
{
    using namespace py::literals;
    py::list hops;
    for (const Hop& hop : route)
        hops.append(py::dict("from"_a = hop.from, "to"_a = hop.to, "mechanism"_a = hop.mechanism,
                             "memory"_a = known(hop.memory, !hop.memory.empty()),
                             "page_bytes"_a = known(hop.page_bytes, hop.page_bytes != 0),
                             "segments"_a = hop.segments, "copies"_a = hop.copies,
                             "reason"_a = known(hop.reason, !hop.reason.empty()),
                             "warning"_a = known(hop.warning, !hop.warning.empty())));
    return hops;
}

py::tuple tuple_of(const Summary& summary)
{
    return py::make_tuple(to_json(summary), dict_of(summary.stats),
                          summary.error ? exception_of(*summary.error) : py::none());
}

} // namespace iio_stream::python
