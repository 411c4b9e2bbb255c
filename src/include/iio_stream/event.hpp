// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/api.hpp"
#include "iio_stream/block.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// What can happen to a stream.
enum class EventKind {
    part,   ///< a part of a rotated recording is closed: its metadata is final
    stored, ///< the store has confirmed a part (archive=); again if its metadata changed after that
    not_stored, ///< a try to store a part failed; the next one follows
    loss,       ///< the source lost samples, or may have
    dropped,    ///< a sink had no room for samples (on-full=drop)
    underflow,  ///< a device that plays ran out of samples
    gone,       ///< the board or peer of an endpoint has gone, and is waited for (reconnect=)
    back,       ///< it is back
    missed,     ///< more happened than Pipeline::take_events() was called for
    removed,    ///< the recorder has removed a closed part, as keep= says
    not_removed ///< it could not remove one; it tries again when the next part is closed
};
/// "part", "stored", "not-stored", "loss", "dropped", "underflow", "gone", "back", "missed",
/// "removed", "not-removed".
IIO_STREAM_API const char* name_of(EventKind kind) noexcept;

/// Something that happened to a stream.
struct Event {
    EventKind kind = EventKind::missed;
    std::int64_t utc_ns = 0;                        ///< when it became known
    std::optional<std::size_t> sink = std::nullopt; ///< to which sink; empty: to the source
    Gap gap = {};                                   ///< of a loss
    std::uint64_t count =
        0; ///< bytes of samples in a part; samples dropped; underflows; events missed
    std::string file = {};  ///< of a part: its metadata, or its samples if it has none
    std::string error = {}; ///< why a part is not stored, or not removed
};

/// As one JSON object, described by docs/schema/event.schema.json.
IIO_STREAM_API std::string to_json(const Event& event);

} // namespace iio_stream
