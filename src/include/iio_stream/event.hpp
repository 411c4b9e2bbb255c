// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// The kinds of events of a stream.
enum class EventKind {
    part,   ///< a part of a rotated recording is closed: its metadata are final
    stored, ///< the store has confirmed a part (archive=); reported again if its metadata changed
            ///< afterwards
    not_stored, ///< an attempt to store a part failed; another attempt follows
    loss,       ///< the source has lost samples or may have lost samples
    dropped,    ///< a sink had no room for samples (on-full=drop)
    underflow,  ///< a device that plays ran out of samples
    gone,       ///< the board or peer of an endpoint has disconnected; the endpoint waits for it
                ///< (reconnect=)
    back,       ///< the board or peer is connected again
    missed,     ///< events were discarded because Pipeline::take_events() was not called often
                ///< enough
    removed,    ///< the recorder has removed a closed part, as required by keep=
    not_removed ///< the recorder could not remove a part; it retries when the next part is closed
};
/// Returns "part", "stored", "not-stored", "loss", "dropped", "underflow", "gone", "back",
/// "missed", "removed" or "not-removed".
IIO_STREAM_API const char* name_of(EventKind kind) noexcept;

/// An event of a stream.
struct Event {
    EventKind kind = EventKind::missed;
    std::int64_t utc_ns = 0;                        ///< when it became known
    std::optional<std::size_t> sink = std::nullopt; ///< index of the sink; empty: an event of the
                                                    ///< source
    Gap gap = {};                                   ///< the gap of a loss
    std::uint64_t count =
        0; ///< bytes of samples in a part; samples dropped; underflows; events missed
    std::string file = {};  ///< file of a part: its metadata, or its samples if it has no metadata
    std::string error = {}; ///< why a part was not stored or not removed
};

/// Takes an event. It sets the event's time and sink. Any thread.
using ReportEvent = std::function<void(Event)>;

/// Returns the event as one JSON object, described by docs/schema/event.schema.json.
IIO_STREAM_API std::string to_json(const Event& event);

} // namespace iio_stream
