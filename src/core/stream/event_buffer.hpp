// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/event.hpp"
#include "iio_stream/stats.hpp"

#include <mutex>
#include <vector>

namespace iio_stream::detail {

/// Events until someone takes them; those it has no room for are counted. add() allocates nothing.
/// Thread: any.
class EventBuffer {
public:
    EventBuffer();

    void add(Event event) noexcept; ///< sets its time
    std::vector<Event> take();
    void clear() noexcept;

private:
    std::mutex mutex_;
    std::vector<Event> events_;
    std::uint64_t missed_ = 0;
};

/// Events that show in counters and states alone, by comparison with those of the last time.
class EventWatch {
public:
    /// An endpoint's current state and counters.
    struct State {
        LinkState link = {};
        std::uint64_t dropped = 0, underflows = 0;
    };

    void reset() noexcept; ///< for another stream, whose counters begin at 0
    /// The first one is the source's. Adds to `events`.
    void compare(const std::vector<State>& now, std::vector<Event>& events);

private:
    std::vector<State> last_;
};

} // namespace iio_stream::detail
