// SPDX-License-Identifier: MIT
#pragma once

#include "iio/context/context.hpp"
#include "iio/tuning/tuning_target.hpp"

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
    /// The powerdown attributes of its oscillators, as far as they have one.
    std::vector<TuningTarget> powerdowns() const;
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

/// Whether the name is that of a front end: "ad9361-phy", "ad9361-phy-B".
bool is_phy(const std::string& name);

/// A front end's name without "-phy" and what follows it.
std::string stem_of(const std::string& phy);

/// Whether `word` is one of the words of a text separated by "-", or several in a row.
bool has_word(const std::string& text, const std::string& word);

/// Whether a front end, "ad9361-phy-B", belongs to a converter, "cf-ad9361-A": the name of the one
/// without "-phy" is a word of the other's label, or of its name, whose remaining words are those
/// of a converter core.
bool belongs_by_name(const std::string& phy, const std::string& converter,
                     const std::string& label);

/// The front ends of a converter, by name: those linked to it by name, label or firmware node. Or,
/// unless `phy` is "auto", the one the user named, whatever it is.
std::vector<Device> find_phys(const Device& converter, const std::string& uri,
                              const std::string& phy);

} // namespace iio_stream::iio
