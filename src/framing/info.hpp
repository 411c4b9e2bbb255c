// SPDX-License-Identifier: MIT
#pragma once

#include "framing/checksum.hpp"
#include "iio_stream/endpoint.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::framing {

/// The numbers in a Tuning, by their names on the wire and in options.
struct TuningNumber {
    const char* name;
    std::optional<double> Tuning::*value;
};
inline constexpr std::array kTuningNumbers{
    TuningNumber{"frequency", &Tuning::frequency}, TuningNumber{"gain", &Tuning::gain},
    TuningNumber{"bandwidth", &Tuning::bandwidth}, TuningNumber{"rate", &Tuning::rate}};

/// One direction's stream.
struct StreamShape {
    Format format;
    std::size_t wire_bytes = 0;
    std::string source;                    ///< for a stream to the host: the board's
    Tuning tuning{};                       ///< of that source
    std::vector<std::string> attributes{}; ///< those the host may set, by number
    Check check = Check::none;             ///< how its blocks are checked
};

/// For a peer that has come back: a stream must continue with the same samples and blocks. Throws
/// a usage error that names both.
void check_same_shape(const StreamShape& now, const StreamShape& before, const std::string& peer);

/// Throws a usage error if this end asks for a check that the peer's command line does not
/// provide; `there` is where to give it: "on the board: ffs:MOUNT".
void require_checksum(Check wanted, const StreamShape& shape, const std::string& peer,
                      const std::string& there);

/// A peer's two clocks at one moment, in ns.
struct PeerClocks {
    std::int64_t monotonic_ns = 0, realtime_ns = 0;
};

/// What a peer says about itself: the answer to GET_INFO, and to a request over TCP.
struct PeerInfo {
    std::optional<StreamShape> to_host, to_board; ///< those its command line has opened
    std::string version;                          ///< of its iio-stream
    std::optional<PeerClocks> clocks{};           ///< when it said so, read from it
};

std::string info_json(const PeerInfo& info, const PeerClocks& clocks);
/// Throws Error(EPROTO), which names `object`, for anything else, or for a format samples cannot
/// have.
PeerInfo parse_info(const std::string& text, const std::string& object);

} // namespace iio_stream::framing
