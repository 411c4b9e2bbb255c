// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// How the radio in front of a converter is set, as read back from it; empty = it does not say.
struct Tuning {
    std::optional<double> frequency; ///< Hz
    std::optional<double> gain;      ///< dB
    std::optional<double> bandwidth; ///< Hz
    std::optional<double> rate;      ///< samples per second
    std::string antenna, hardware;   ///< port; names of converter and front end
    std::vector<std::string> remarks; ///< where the hardware made something else of what was asked for
    std::string agc{}; ///< mode of the gain control, in the driver's words
};

/// What is wanted of a radio, by Device::tune(); what is empty stays as it is.
///
///     device.tune({.frequency = 2.4e9, .gain = 40});
struct TuningRequest {
    std::optional<double> frequency = std::nullopt; ///< Hz, of the centre
    std::optional<double> gain = std::nullopt;      ///< dB; chooses the manual mode
    std::optional<double> bandwidth = std::nullopt; ///< Hz, of the analogue filters
    std::optional<double> rate = std::nullopt;      ///< samples per second
    std::string agc = {};     ///< mode of the gain's control, "slow_attack"; not together with gain
    std::string antenna = {}; ///< port, "A_BALANCED"
    /// Which channels it is for, "voltage0,voltage1"; empty = all of the buffer.
    std::string channels = {};
    int buffer = 0;           ///< of the device, whose direction says whether it receives or transmits
};

} // namespace iio_stream
