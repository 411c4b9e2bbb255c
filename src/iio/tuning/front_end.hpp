// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/tuning/tuning_target.hpp"

#include <optional>
#include <string>
#include <vector>

namespace iio_stream::iio {

enum class Direction { receive, transmit };

/// The front end of a converter, which can be a separate device or part of the converter, and the
/// places of its settings. A table of drivers gives the places.
/// Thread: one at a time.
class FrontEnd {
public:
    /// `phy` is "auto" or the name of any device to use as the front end.
    FrontEnd(const Device& converter, const std::string& uri, const std::string& phy,
             Direction direction, std::vector<Channel> channels);

    /// The attributes behind `option` (frequency, gain, agc, bandwidth or antenna) for the chosen
    /// channels: one per channel, or one that several channels share.
    std::vector<TuningTarget> places(const std::string& option) const;
    /// The powerdown attributes of the oscillators that have one.
    std::vector<TuningTarget> powerdowns() const;
    /// The attributes of the sample rate in front of the converter, and of the converter itself.
    std::vector<TuningTarget> front_rates() const;
    std::vector<TuningTarget> own_rates() const;
    /// The gain control mode in which the user sets the gain: "manual" or "spi".
    const char* manual_mode() const;
    /// The converter and its front ends, such as "cf-ad9361-lpc after ad9361-phy".
    std::string text() const;
    /// The sysfs folders of the converter and its front ends.
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
        unsigned channel; ///< channel number on that phy
    };
    Chip chip_of(unsigned converter) const;

    Device converter_;
    Direction direction_;
    bool named_; ///< the user named the front end
    std::vector<Channel> channels_;
    std::vector<unsigned> converters_; ///< I/Q pairs or real converters the channels belong to
    std::vector<Device> phys_; ///< front ends by name; several chips can share one converter
    bool observes_ = false;
    unsigned first_ = 0; ///< number of the first converter on the front end
};

/// Whether `name` is the name of a front end, such as "ad9361-phy" or "ad9361-phy-B".
bool is_phy(const std::string& name);

/// The part of a front end's name before "-phy".
std::string stem_of(const std::string& phy);

/// Whether `text`, split at "-", contains `word`, which can be several consecutive words.
bool has_word(const std::string& text, const std::string& word);

/// Whether a front end such as "ad9361-phy-B" belongs to a converter such as "cf-ad9361-A". It does
/// if the front end's name before "-phy" is a word of the converter's label. It also does if that
/// part is a word of the converter's name, and all other words of that name are ones that converter
/// cores use.
bool belongs_by_name(const std::string& phy, const std::string& converter,
                     const std::string& label);

/// The front ends of a converter, sorted by name. If `phy` is "auto", these are the devices that
/// name, label or firmware node link to the converter. Otherwise it is the device that the user
/// named, whatever that device is.
std::vector<Device> find_phys(const Device& converter, const std::string& uri,
                              const std::string& phy);

} // namespace iio_stream::iio
