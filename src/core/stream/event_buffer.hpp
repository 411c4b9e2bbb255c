// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/event.hpp"
#include "iio_stream/stats.hpp"

#include <mutex>
#include <vector>

namespace iio_stream::detail {

/// Stores events until they are taken. Events for which there is no room are only counted. add()
/// allocates nothing. Thread: any.
class EventBuffer {
public:
    EventBuffer();

    void add(Event event) noexcept; ///< sets the time of the event
    std::vector<Event> take();
    void clear() noexcept;

private:
    std::mutex mutex_;
    std::vector<Event> events_;
    std::uint64_t missed_ = 0;
};

/// Finds events that show only in counters and states, by comparing these with the previous call.
class EventWatch {
public:
    /// An endpoint's current state and counters.
    struct State {
        LinkState link = {};
        std::uint64_t dropped = 0, underflows = 0;
    };

    void reset() noexcept; ///< call before another stream, whose counters begin at 0
    /// Appends the new events to `events`. The first entry of `now` is the source's.
    void compare(const std::vector<State>& now, std::vector<Event>& events);

private:
    std::vector<State> last_;
};

} // namespace iio_stream::detail
