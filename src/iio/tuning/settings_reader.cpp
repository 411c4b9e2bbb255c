// SPDX-License-Identifier: MIT
#include "iio/tuning/settings_reader.hpp"

#include "iio/context/attributes.hpp"
#include "iio_stream/error.hpp"

#include <algorithm>
#include <cerrno>

namespace iio_stream::iio {

namespace {

std::string mode_at(const TuningTarget& place)
{
    return place.device.read(place.channel, place.attribute);
}

std::vector<TuningTarget> readable(std::vector<TuningTarget> places)
{
    const auto has_value = [](const TuningTarget& place) { return value_of(place).has_value(); };
    return std::all_of(places.begin(), places.end(), has_value) ? places
                                                                : std::vector<TuningTarget>{};
}

std::vector<TuningTarget> readable_modes(std::vector<TuningTarget> places)
try {
    for (const TuningTarget& place : places)
        (void)mode_at(place);
    return places;
} catch (const Error&) {
    return {};
}

// In an automatic mode the gain is not a setting.
bool sets_itself(const std::vector<TuningTarget>& modes)
{
    return std::any_of(modes.begin(), modes.end(), [](const TuningTarget& place) {
        const std::string mode = mode_at(place);
        return mode != "manual" && mode != "spi";
    });
}

// The value that all places agree on; nullopt if they differ. Throws if a place cannot be read.
std::optional<double> agreed_value(const std::vector<TuningTarget>& places)
{
    std::optional<double> agreed;
    bool differ = false;
    for (const TuningTarget& place : places) {
        const auto value = value_of(place);
        if (!value)
            throw Error(Fault::device, EIO, "read", place.text());
        differ = differ || (agreed && *agreed != *value);
        agreed = value;
    }
    return differ ? std::nullopt : agreed;
}

} // namespace

SettingsReader::SettingsReader(const FrontEnd& front)
    : frequency_(readable(front.places("frequency"))),
      gain_(readable(front.places("gain"))),
      bandwidth_(readable(front.places("bandwidth"))),
      modes_(readable_modes(front.places("agc")))
{
    for (const auto& places : {front.own_rates(), front.front_rates()})
        if (rate_.empty() && !places.empty())
            rate_ = readable({places[0]});
}

std::optional<Settings> SettingsReader::read() const
try {
    Settings settings;
    settings.frequency = agreed_value(frequency_);
    settings.gain = sets_itself(modes_) ? std::nullopt : agreed_value(gain_);
    settings.bandwidth = agreed_value(bandwidth_);
    settings.rate = agreed_value(rate_);
    return settings;
} catch (const Error&) {
    return std::nullopt;
}

bool SettingsReader::empty() const noexcept
{
    return frequency_.empty() && gain_.empty() && bandwidth_.empty() && rate_.empty();
}

std::vector<std::string> SettingsReader::files() const
{
    std::vector<std::string> files;
    for (const auto* places : {&frequency_, &gain_, &bandwidth_, &rate_, &modes_})
        for (const TuningTarget& place : *places) {
            if (!place.device.is_local())
                continue;
            const std::string dir = "/sys/bus/iio/devices/" + place.device.id() + "/";
            files.push_back(dir + place.device.file_of(place.channel, place.attribute));
            if (!place.added_attribute.empty())
                files.push_back(dir +
                                place.device.file_of(place.added_channel, place.added_attribute));
        }
    return files;
}

} // namespace iio_stream::iio
