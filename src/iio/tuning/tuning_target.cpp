// SPDX-License-Identifier: MIT
#include "iio/tuning/tuning_target.hpp"

#include "core/base/text.hpp"
#include "iio/context/attributes.hpp"
#include "iio_stream/error.hpp"

namespace iio_stream::iio {

std::string TuningTarget::text() const
{
    return detail::printable((device.name().empty() ? device.id() : device.name()) + "/" +
                             (channel.empty() ? "" : channel + "/") + attribute);
}

std::string available_for(const TuningTarget& place)
{
    const std::string name = place.attribute + "_available";
    try {
        if (place.device.has(place.channel, name))
            return place.device.read(place.channel, name);
    } catch (const Error&) {
        // The driver does not list its values now.
    }
    return "";
}

std::string write_at(const TuningTarget& place, const std::string& value)
{
    return place.device.write(place.channel, place.attribute, value);
}

std::optional<double> value_of(const TuningTarget& place)
{
    try {
        auto value = number_in_value(place.device.read(place.channel, place.attribute));
        if (value && !place.added_attribute.empty())
            if (const auto added =
                    number_in_value(place.device.read(place.added_channel, place.added_attribute)))
                *value += *added;
        return value;
    } catch (const Error&) {
        return std::nullopt; // cannot be read now, so it is unknown
    }
}

std::optional<double> common_value(const std::vector<TuningTarget>& places)
{
    std::optional<double> common;
    for (const TuningTarget& place : places) {
        const auto value = value_of(place);
        if (!value || (common && *common != *value))
            return std::nullopt;
        common = value;
    }
    return common;
}

} // namespace iio_stream::iio
