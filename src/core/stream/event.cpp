// SPDX-License-Identifier: MIT
#include "sys/event.hpp"

#include "core/stream/event_buffer.hpp"
#include "iio_stream/utc.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace iio_stream {

namespace {

using Json = nlohmann::ordered_json;

void add_members(Json& j, const Event& event)
{
    const auto known = [](std::uint64_t count) {
        return count == kUnknown ? Json(nullptr) : Json(count);
    };
    switch (event.kind) {
    case EventKind::part:
    case EventKind::stored:
    case EventKind::not_stored:
    case EventKind::removed:
    case EventKind::not_removed:
        j["file"] = event.file;
        if (event.kind == EventKind::not_stored || event.kind == EventKind::not_removed)
            j["error"] = event.error;
        else
            j["bytes"] = event.count;
        return;
    case EventKind::loss:
        j["after_min"] = event.gap.offset_min;
        j["after_max"] = event.gap.offset_max;
        j["lost_min"] = event.gap.lost_min;
        j["lost_max"] = known(event.gap.lost_max);
        j["evidence"] = name_of(event.gap.evidence);
        return;
    case EventKind::dropped:
        j["samples"] = event.count;
        return;
    case EventKind::underflow:
    case EventKind::missed:
        j["count"] = event.count;
        return;
    case EventKind::gone:
    case EventKind::back:
        return;
    }
}

} // namespace

const char* name_of(EventKind kind) noexcept
{
    static constexpr const char* kNames[] = {"part",    "stored",    "not-stored", "loss",
                                             "dropped", "underflow", "gone",       "back",
                                             "missed",  "removed",   "not-removed"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string to_json(const Event& event)
{
    Json j{{"event", name_of(event.kind)}, {"time", format_utc(event.utc_ns)}};
    j["sink"] = event.sink ? Json(*event.sink) : Json(nullptr);
    add_members(j, event);
    return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace detail {

namespace {

constexpr std::size_t kMost = 512; ///< one part or loss per millisecond, for half a second

} // namespace

EventBuffer::EventBuffer()
{
    events_.reserve(kMost);
}

void EventBuffer::add(Event event) noexcept
{
    event.utc_ns = sys::realtime_ns();
    const std::lock_guard lock(mutex_);
    if (events_.size() < kMost)
        events_.push_back(std::move(event));
    else
        ++missed_;
}

std::vector<Event> EventBuffer::take()
{
    std::vector<Event> taken;
    {
        const std::lock_guard lock(mutex_);
        if (events_.empty())
            return taken;
    }
    taken.reserve(kMost);
    const std::lock_guard lock(mutex_);
    taken.swap(events_);
    if (const std::uint64_t missed = std::exchange(missed_, 0); missed != 0)
        taken.push_back({.kind = EventKind::missed, .utc_ns = sys::realtime_ns(), .count = missed});
    return taken;
}

void EventBuffer::clear() noexcept
{
    const std::lock_guard lock(mutex_);
    events_.clear();
    missed_ = 0;
}

void EventWatch::reset() noexcept
{
    for (State& state : last_)
        state = {state.link};
}

void EventWatch::compare(const std::vector<State>& now, std::vector<Event>& events)
{
    last_.resize(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) {
        const auto add = [&](EventKind kind, std::uint64_t count) {
            events.push_back({.kind = kind,
                              .utc_ns = sys::realtime_ns(),
                              .sink = i == 0 ? std::nullopt : std::optional(i - 1),
                              .count = count});
        };
        const State& last = last_[i];
        bool connected = last.link.connected;
        for (std::uint64_t disconnects = last.link.disconnects;
             disconnects < now[i].link.disconnects || connected != now[i].link.connected;
             connected = !connected) {
            add(connected ? EventKind::gone : EventKind::back, 0);
            disconnects += connected ? 1 : 0;
        }
        if (now[i].dropped > last.dropped)
            add(EventKind::dropped, now[i].dropped - last.dropped);
        if (now[i].underflows > last.underflows)
            add(EventKind::underflow, now[i].underflows - last.underflows);
    }
    last_ = now;
}

} // namespace detail

} // namespace iio_stream
