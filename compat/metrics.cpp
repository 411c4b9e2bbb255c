// SPDX-License-Identifier: MIT
#include "metrics.hpp"

#include "settings.hpp"

#include <cstdio>
#include <map>
#include <mutex>

namespace iio_stream::compat {

namespace {

struct Totals {
    std::mutex mutex;
    std::map<std::string, Stats> by_device;
    bool failed = false;

    void write(const std::string& file);
};

Totals& totals()
{
    static Totals* const all =
        new Totals; // never destroyed: programs also call libiio from atexit()
    return *all;
}

// A failure to write the metrics file is printed once and does not stop the stream.
void Totals::write(const std::string& file)
try {
    std::vector<LabelledStats> pipelines;
    for (const auto& [device, stats] : by_device)
        pipelines.push_back({"device=\"" + device + "\"", stats});
    write_metrics(file, pipelines);
    failed = false;
} catch (const Error& error) {
    if (!std::exchange(failed, true))
        std::fprintf(stderr, "iio-stream: metrics: %s\n", error.what());
}

// Adds the increase since `before` to the totals. The underflows of all sinks are added up in a
// single sink.
void add(Stats& total, const Stats& before, const Stats& now)
{
    const auto grow = [](std::uint64_t& sum, std::uint64_t old, std::uint64_t fresh) {
        sum += fresh - old;
    };
    grow(total.samples, before.samples, now.samples);
    grow(total.bytes, before.bytes, now.bytes);
    grow(total.blocks, before.blocks, now.blocks);
    grow(total.gaps.certain, before.gaps.certain, now.gaps.certain);
    grow(total.gaps.possible, before.gaps.possible, now.gaps.possible);
    grow(total.gaps.lost_min, before.gaps.lost_min, now.gaps.lost_min);
    total.sinks.resize(1);
    if (!total.sinks[0].playback)
        total.sinks[0].playback.emplace();
    grow(total.sinks[0].playback->underflows, before.underflows(), now.underflows());
}

} // namespace

Metrics::Metrics(std::string device) : device_(std::move(device))
{
    update({}); // the file names the device as soon as the buffer exists
}

void Metrics::update(const Stats& now)
{
    const std::string& file = Settings::get().metrics_file;
    if (file.empty())
        return;
    const std::lock_guard lock(totals().mutex);
    add(totals().by_device[device_], counted_, now);
    counted_ = now;
    totals().write(file);
}

} // namespace iio_stream::compat
