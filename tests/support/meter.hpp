// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/session.hpp"
#include "support/allocations.hpp"
#include "support/eventually.hpp"
#include "support/fake.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace iio_stream::test {

/// Counts the allocations during blocks 100 to 4000.
struct Meter {
    std::function<void(const Block&, int)> probe()
    {
        return [this](const Block&, int) {
            const std::uint64_t block = seen++;
            if (block == 100) {
                // Gives the control thread enough time to finish its first work.
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                first = allocations();
            }
            if (block == 4000)
                last = allocations();
        };
    }
    std::atomic<std::uint64_t> seen = 0;
    std::size_t first = 0, last = 0;
};

/// Runs a stream until the meter has seen enough blocks. Returns the summary.
inline Summary run_until_measured(const PipelineConfig& config, const Meter& meter)
{
    Session session;
    session.add(config);
    session.prepare();
    session.start();
    (void)eventually([&] { return meter.seen > 4000; }); // the caller checks the number
    session.stop();
    return session[0].summary();
}

inline std::size_t allocations_of(const std::string& source, const std::vector<std::string>& more,
                                  bool threaded, const std::string& options = "",
                                  std::size_t block_size = 256)
{
    Meter meter;
    const SinkAt sink =
        fake_sink({.may_block = threaded, .records = false, .submit = meter.probe()});
    PipelineConfig config;
    config.source = source;
    config.sinks.assign(more.begin(), more.end());
    config.sinks.push_back(sink.uri + options);
    config.block_size = block_size;
    config.blocks = 8;
    if (options.find("drop") == std::string::npos) {
        config.bytes = 4200 * block_size;
        EXPECT_EQ(run(config).ended, "bytes");
    } else { // a busy machine drops most blocks
        EXPECT_FALSE(run_until_measured(config, meter).error);
    }
    EXPECT_GT(meter.seen, 4000u);
    return meter.last - meter.first;
}

} // namespace iio_stream::test
