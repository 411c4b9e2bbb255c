// SPDX-License-Identifier: MIT
#pragma once

#include "iio_stream/endpoint.hpp"
#include "usb/checksum.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iio_stream::usb {

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
    std::string source; ///< for a stream to the host: the board's
    Tuning tuning{};    ///< of that source
    std::vector<std::string> attributes{}; ///< those the host may set, by number
    Check check = Check::none;             ///< how its blocks are checked
};

/// For a board that has come back: a stream must continue with the same samples and blocks. Throws
/// a usage error that names both.
void check_same_shape(const StreamShape& now, const StreamShape& before, const std::string& board);

/// Throws a usage error if the host asks for a check that the board's command line does not
/// provide.
void require_check(Check wanted, const StreamShape& shape, const std::string& board);

/// What the host learns from GET_INFO.
struct BoardInfo {
    std::optional<StreamShape> to_host, to_board; ///< those the board's command line has opened
    std::string version;                          ///< the board's
};

/// The board's two clocks at one moment, in ns.
struct BoardClocks {
    std::int64_t monotonic_ns = 0, realtime_ns = 0;
};

std::string info_json(const BoardInfo& info, const BoardClocks& clocks);
/// Throws Error(EPROTO) for anything else, or for a format samples cannot have.
BoardInfo parse_info(const std::string& text);

} // namespace iio_stream::usb
