// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context.hpp"
#include "iio/tuning_target.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

enum class Direction { receive, transmit };

/// The front end of a converter, separate or part of it, and where its settings are: a table of
/// drivers.
/// Thread: one at a time.
class FrontEnd {
public:
    /// `phy` is "auto" or the name of the front end to use, whatever it is.
    FrontEnd(const Device& converter, const std::string& uri, const std::string& phy,
             Direction direction, std::vector<Channel> channels);

    /// The attributes of frequency, gain, agc, bandwidth or antenna for the chosen channels: one
    /// per channel, or one that several share.
    std::vector<TuningTarget> places(const std::string& option) const;
    /// Those of the rate in front of the converter, and of the converter itself.
    std::vector<TuningTarget> front_rates() const;
    std::vector<TuningTarget> own_rates() const;
    /// The mode in which the user sets the gain: "manual", "spi".
    const char* manual_mode() const;
    /// "cf-ad9361-lpc behind ad9361-phy".
    std::string text() const;
    /// The sysfs folders of the converter and of what is in front of it.
    std::vector<std::string> folders() const;
    bool has_phy() const noexcept { return !phys_.empty(); }

private:
    void add(std::vector<TuningTarget>& found, const Device& device, const std::string& channel,
             const std::string& attribute) const;
    void add_oscillators(std::vector<TuningTarget>& found, unsigned converter) const;
    bool add_oscillator(std::vector<TuningTarget>& found, const Device& phy,
                        const std::string& name) const;
    void add_own_oscillators(std::vector<TuningTarget>& found) const;
    void add_shared_oscillators(std::vector<TuningTarget>& found) const;
    void add_of_channels(std::vector<TuningTarget>& found,
                         const std::vector<std::string>& attributes) const;
    void add_of_converter(std::vector<TuningTarget>& found, const std::string& attribute) const;

    struct Chip {
        const Device* phy;
        unsigned channel; ///< of that phy
    };
    Chip chip_of(unsigned converter) const;

    Device converter_;
    Direction direction_;
    bool named_; ///< by the user
    std::vector<Channel> channels_;
    std::vector<unsigned> converters_; ///< I/Q pairs or real converters the channels belong to
    std::vector<Device> phys_;         ///< several chips behind one converter, in their order
    bool observes_ = false;
    unsigned first_ = 0; ///< the front end's number of the first converter
};

} // namespace iio_stream::iio
