// SPDX-License-Identifier: MIT
#pragma once

#include "conformance/saved_settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace iio_stream::conformance {

/// Silences a transmitter: powers its oscillators down and sets its largest attenuation. The
/// destructor restores both. Thread: one.
class Silence {
public:
    Silence(Run& run, const Subject& output);

    /// The reason why the transmitter is not known to be silent; empty if it is silent.
    const std::string& missing() const noexcept { return missing_; }
    /// Reads the powerdowns and the gains again, because a driver can power an oscillator up when
    /// its DAC starts. Describes the first difference; empty if there is none.
    std::string broken() const;
    /// "ad9361-phy/… has a gain of -89.75 dB, ad9361-phy/… is powered down".
    const std::string& text() const noexcept { return text_; }

private:
    void power_down(const iio::Device& device, const std::string& channel);
    void attenuate(const iio::Device& device, const std::string& channel);

    SavedSettings settings_;
    std::vector<std::pair<std::string, std::string>> expected_; ///< files and their values
    std::string missing_, text_;
};

/// Returns whether a DAC may be enabled now: with --transmit, or if its transmitter is silent.
/// Otherwise reports the check as skipped.
bool may_transmit(Run& run, const Silence& silence);

} // namespace iio_stream::conformance
