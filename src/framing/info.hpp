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

/// The numbers in a Tuning, with their names on the wire and in options.
struct TuningNumber {
    const char* name;
    std::optional<double> Tuning::*value;
};
inline constexpr std::array kTuningNumbers{
    TuningNumber{"frequency", &Tuning::frequency}, TuningNumber{"gain", &Tuning::gain},
    TuningNumber{"bandwidth", &Tuning::bandwidth}, TuningNumber{"rate", &Tuning::rate}};

/// The stream in one direction.
struct StreamShape {
    Format format;
    std::size_t wire_bytes = 0;
    std::string source;                    ///< source of the board, for a stream to the host
    Tuning tuning{};                       ///< tuning of that source
    std::vector<std::string> attributes{}; ///< attributes that the host is allowed to set; the
                                           ///< index is the number on the wire
    Check check = Check::none;             ///< check of its blocks
};

/// Checks the stream of a peer that has reconnected: it must continue with the same samples and
/// blocks. Otherwise throws a usage error that names both shapes.
void check_same_shape(const StreamShape& now, const StreamShape& before, const std::string& peer);

/// Throws a usage error if this end requests a check that the peer's command line does not enable.
/// `there` is where to enable it: "on the board: ffs:MOUNT".
void require_checksum(Check wanted, const StreamShape& shape, const std::string& peer,
                      const std::string& there);

/// A peer's two clocks at one moment, in ns.
struct PeerClocks {
    std::int64_t monotonic_ns = 0, realtime_ns = 0;
};

/// A peer's description of itself: the answer to GET_INFO and to a request over TCP.
struct PeerInfo {
    std::optional<StreamShape> to_host, to_board; ///< streams that the peer's command line has
                                                  ///< opened
    std::string version;                          ///< version of the peer's iio-stream
    std::optional<PeerClocks> clocks{};           ///< its clocks at the time of the answer
};

std::string info_json(const PeerInfo& info, const PeerClocks& clocks);
/// Parses the output of info_json(). Throws Error(EPROTO), which names `object`, if the text or the
/// sample format in it is not valid.
PeerInfo parse_info(const std::string& text, const std::string& object);

} // namespace iio_stream::framing
