// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace iio_stream::detail {

/// The states of a stream. docs/architecture.md has the diagram.
enum class StreamState : std::uint8_t {
    prepared,         ///< The endpoints are being prepared or are ready; nothing moves yet.
    waiting_for_peer, ///< A sink has no peer yet, so the source is not started.
    running,          ///< Blocks move from the source to the sinks.
    stopping,         ///< The stream has a reason to end. The last blocks are being delivered.
    source_ended,     ///< The source has no more blocks. The last ones are being delivered.
    repeating,        ///< The source is stopped, and a sink repeats its samples.
    finishing,        ///< The sinks finish their last blocks and close.
    ended,            ///< The summary is final.
};

/// Whether a stream in state `from` may enter `to`. Only prepare() brings it back to `prepared`.
constexpr bool may_follow(StreamState from, StreamState to) noexcept
{
    using enum StreamState;
    switch (to) {
    case prepared:
        return false;
    case waiting_for_peer:
        return from == prepared;
    case running:
        return from == prepared || from == waiting_for_peer;
    case stopping:
    case source_ended:
        return from == running;
    case repeating:
        return from == source_ended;
    case finishing: // an error or a stop can end any other state
        return from != prepared && from != finishing && from != ended;
    case ended:
        return from == finishing;
    }
    return false;
}

/// Why a stream ends.
enum class EndReason : std::uint8_t {
    none,
    eof,
    samples,
    bytes,
    duration,
    gap,
    signal,  ///< The user or the program stopped the stream.
    stopped, ///< Another stream of the session failed.
    error,
};

/// The name of a reason, as in the summary's `ended`; "" for `none`.
constexpr const char* name_of(EndReason reason) noexcept
{
    constexpr const char* kNames[] = {"",    "eof",    "samples", "bytes", "duration",
                                      "gap", "signal", "stopped", "error"};
    return kNames[static_cast<int>(reason)];
}

} // namespace iio_stream::detail
