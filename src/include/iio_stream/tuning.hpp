// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iio_stream {

/// The settings of the radio in front of a converter, as read back from it. A value is empty if the
/// radio does not report it.
struct Tuning {
    std::optional<double> frequency;  ///< Hz
    std::optional<double> gain;       ///< dB
    std::optional<double> bandwidth;  ///< Hz
    std::optional<double> rate;       ///< samples per second
    std::string antenna, hardware;    ///< port; names of the converter and the front end
    std::vector<std::string> remarks; ///< settings for which the hardware chose another value
    std::string agc{};                ///< mode of the gain control, as named by the driver
};

/// The settings that Device::tune() changes. Empty values stay unchanged.
///
///     device.tune({.frequency = 2.4e9, .gain = 40});
struct TuningRequest {
    std::optional<double> frequency = std::nullopt; ///< Hz, centre of the band
    std::optional<double> gain = std::nullopt;      ///< dB; switches to manual gain
    std::optional<double> bandwidth = std::nullopt; ///< Hz, of the analogue filters
    std::optional<double> rate = std::nullopt;      ///< samples per second
    std::string agc = {};     ///< gain control mode, "slow_attack"; not together with gain
    std::string antenna = {}; ///< port, "A_BALANCED"
    /// The channels to tune, "voltage0,voltage1"; empty = all channels of the buffer.
    std::string channels = {};
    int buffer = 0; ///< index of the device's buffer, whose direction selects receive or transmit
};

} // namespace iio_stream
