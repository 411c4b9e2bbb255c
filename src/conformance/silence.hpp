// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/saved_settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace iio_stream::conformance {

/// Makes a transmitter silent: its oscillators powered down, its attenuation the largest. Restores
/// both. Thread: one.
class Silence {
public:
    Silence(Run& run, const Subject& output);

    /// Why the transmitter is not known to be silent; empty if it is.
    const std::string& missing() const noexcept { return missing_; }
    /// Reads both again: a driver may power an oscillator up when its DAC starts. Empty if all is
    /// as set.
    std::string broken() const;
    /// "the oscillator … is off, and the gain … is -89.75 dB".
    const std::string& text() const noexcept { return text_; }

private:
    void power_down(const iio::Device& device, const std::string& channel);
    void attenuate(const iio::Device& device, const std::string& channel);

    SavedSettings settings_;
    std::vector<std::pair<std::string, std::string>> expected_; ///< files and what they read
    std::string missing_, text_;
};

/// Whether a DAC may be enabled now: with --transmit, or silenced. Otherwise reports the skip.
bool may_transmit(Run& run, const Silence& silence);

} // namespace iio_stream::conformance
