// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/pipeline.hpp"
#include "sys/event.hpp"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>

namespace iio_stream::test {

/// A gate at which sinks wait. Obedient sinks stop waiting when they are cancelled.
struct Gate {
    std::function<void(const Block&, int)> hold_up(bool obedient)
    {
        return [this, obedient](const Block&, int cancel) {
            ++waiting;
            pollfd fds[] = {{open.fd(), POLLIN, 0}, {obedient ? cancel : -1, POLLIN, 0}};
            (void)::poll(fds, 2, 30'000);
            --waiting;
        };
    }
    sys::Event open;
    std::atomic<int> waiting{0};
};

/// Checks for each sink that delivered + dropped + lost = produced.
inline void expect_balance(const Summary& summary)
{
    for (const SinkStats& sink : summary.stats.sinks)
        EXPECT_EQ(sink.delivered_samples + sink.dropped_samples + summary.stats.gaps.lost_min,
                  summary.produced_samples());
}

} // namespace iio_stream::test
