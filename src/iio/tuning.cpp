// SPDX-License-Identifier: MIT
#include "iio/tuning.hpp"

#include "core/text.hpp"
#include "iio_stream/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace iio_stream::iio {

namespace {

enum class Value { hertz, number, text };

/// Where a portable option lives on the front ends that we know (ad9361-phy, ad9371-phy,
/// adrv9009-phy, adrv9002-phy and their like). Channels are tried in order, by id or by name.
struct Row {
    const char* option;
    Direction direction;
    Value value;
    const char* channels;
    const char* attribute;
};

constexpr std::array kTable{
    Row{"frequency", Direction::receive, Value::hertz,
        "RX_LO,RX1_LO,TRX_LO,out_altvoltage0,in_altvoltage0", "frequency"},
    Row{"frequency", Direction::transmit, Value::hertz,
        "TX_LO,TX1_LO,TRX_LO,out_altvoltage1,out_altvoltage0", "frequency"},
    Row{"gain", Direction::receive, Value::number, "in_voltage0", "hardwaregain"},
    Row{"gain", Direction::transmit, Value::number, "out_voltage0", "hardwaregain"},
    Row{"bandwidth", Direction::receive, Value::hertz, "in_voltage0", "rf_bandwidth"},
    Row{"bandwidth", Direction::transmit, Value::hertz, "out_voltage0", "rf_bandwidth"},
    Row{"rate", Direction::receive, Value::hertz, "in_voltage0,in_voltage0_i", "sampling_frequency"},
    Row{"rate", Direction::transmit, Value::hertz, "out_voltage0,out_voltage0_i",
        "sampling_frequency"},
    Row{"antenna", Direction::receive, Value::text, "in_voltage0", "rf_port_select"},
    Row{"antenna", Direction::transmit, Value::text, "out_voltage0", "rf_port_select"}};

const Row& row_of(const std::string& option, Direction direction)
{
    return *std::find_if(kTable.begin(), kTable.end(), [&](const Row& row) {
        return row.option == option && row.direction == direction;
    });
}

std::string formatted(Value kind, const std::string& option, const std::string& value)
{
    if (kind == Value::text)
        return value;
    std::array<char, 64> text;
    if (kind == Value::hertz)
        std::snprintf(text.data(), text.size(), "%.0f", parse_rate(option, value));
    else
        std::snprintf(text.data(), text.size(), "%g", parse_number(option, value));
    return text.data();
}

std::string rate_text(double rate)
{
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%.12g", rate);
    return text.data();
}

bool has_channel(const Device& device, const std::string& id, std::string& found)
{
    for (const std::string& channel : device.channels())
        if (channel == id || device.channel_name(channel) == id) {
            found = channel;
            return true;
        }
    return false;
}

std::optional<Device> find_phy(const Device& converter, const std::string& uri,
                               const std::string& phy)
{
    if (phy != "auto")
        return find_device(converter.context(), uri, phy);
    for (const Device& device : devices(converter.context()))
        if (device.name().ends_with("-phy"))
            return device;
    return std::nullopt;
}

} // namespace

Tuner::Tuner(const Device& converter, const std::string& uri, const std::string& phy,
             Direction direction)
    : converter_(converter), uri_(uri), phy_(find_phy(converter, uri, phy)), direction_(direction)
{}

std::optional<Tuner::Place> Tuner::find(const std::string& option) const
{
    const Row& row = row_of(option, direction_);
    std::vector<Device> places;
    if (phy_)
        places.push_back(*phy_);
    places.push_back(converter_);
    for (const Device& device : places) {
        for (const std::string& id : detail::split(row.channels)) {
            std::string channel;
            if (has_channel(device, id, channel) && device.has(channel, row.attribute))
                return Place{device, channel, row.attribute};
        }
        if (device.has("", row.attribute))
            return Place{device, "", row.attribute};
    }
    return std::nullopt;
}

void Tuner::set(const std::string& option, const std::string& value)
{
    const auto place = find(option);
    if (!place)
        fail_usage(option + "=" + value + ": " + converter_.name() + " has nothing of the kind",
                   phy_ ? "the front end is " + phy_->name() + "; phy=DEVICE names another"
                        : "no front end was found; phy=DEVICE names one");
    // A gain that the automatic control sets is refused, or overwritten at once.
    if (option == "gain" && place->device.has(place->channel, "gain_control_mode"))
        (void)place->device.write(place->channel, "gain_control_mode", "manual");
    (void)place->device.write(place->channel, place->attribute,
                              formatted(row_of(option, direction_).value, option, value));
}

AttributePath AttributePath::parse(const std::string& path, const ContextPtr& context)
{
    const auto parts = detail::split(path, '/');
    AttributePath found;
    if (parts.empty() || parts.size() > 3)
        fail_usage("'" + path + "' is not an attribute", "[DEVICE/][CHANNEL/]NAME");
    found.name = parts.back();
    if (parts.size() == 3) {
        found.device = parts[0];
        found.channel = parts[1];
    } else if (parts.size() == 2) {
        // One part in front of the name: a device, if one is called that; else a channel.
        const auto all = devices(context);
        const bool device = std::any_of(all.begin(), all.end(), [&](const Device& d) {
            return d.name() == parts[0] || d.label() == parts[0] || d.id() == parts[0];
        });
        (device ? found.device : found.channel) = parts[0];
    }
    return found;
}

void Tuner::set_attribute(const std::string& path, const std::string& value)
{
    const AttributePath at = AttributePath::parse(path, converter_.context());
    const Device device =
        at.device.empty() ? converter_ : find_device(converter_.context(), uri_, at.device);
    (void)device.write(at.channel, at.name, value);
}

void Tuner::take(Options& options)
{
    // The rate first: it may change what bandwidths there are.
    for (const char* option : {"rate", "frequency", "bandwidth", "antenna", "gain"})
        if (const auto value = options.take(option))
            wanted_.emplace_back(option, *value);
    attributes_ = options.take_prefixed("attr.");
    // A mistyped option is found before the radio is touched.
    options.finish("iio:" + converter_.name());
    if (!awaits_rate())
        apply(0);
}

void Tuner::follow(double rate)
{
    if (!awaits_rate())
        return;
    apply(rate);
    wanted_.clear();
    attributes_.clear();
}

bool Tuner::awaits_rate() const noexcept
{
    return direction_ == Direction::transmit && !wanted_.empty() && wanted_[0].first == "rate" &&
           wanted_[0].second == "auto";
}

void Tuner::apply(double rate)
{
    for (const auto& [option, value] : wanted_)
        if (option == "rate" && awaits_rate())
            match_rate(rate);
        else
            set(option, value);
    for (const auto& [path, value] : attributes_)
        set_attribute(path, value);
}

void Tuner::match_rate(double wanted)
{
    const auto place = find("rate");
    if (wanted <= 0 || !place)
        return; // one of them does not say: there is nothing to compare
    std::string refusal;
    try {
        set("rate", std::to_string(wanted));
    } catch (const Error& error) {
        refusal = std::string(": ") + error.what();
    }
    const auto made = number("rate");
    if (made && std::abs(*made - wanted) > std::max(1.0, wanted * 1e-6))
        fail_usage("the samples are made for " + rate_text(wanted) + " samples per second, and " +
                       converter_.name() + " plays " + rate_text(*made) + refusal,
                   "rate=" + rate_text(*made) + " plays them at that rate all the same");
}

std::optional<double> Tuner::number(const char* option) const
{
    const auto place = find(option);
    if (!place)
        return std::nullopt;
    try {
        const std::string text = place->device.read(place->channel, place->attribute);
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str())
            return value;
    } catch (const Error&) {
        // An attribute that cannot be read now is one that we do not know.
    }
    return std::nullopt;
}

std::optional<double> Tuner::rate() const
{
    return number("rate");
}

Tuning Tuner::read() const
{
    Tuning tuning;
    tuning.frequency = number("frequency");
    tuning.gain = number("gain");
    tuning.bandwidth = number("bandwidth");
    tuning.rate = number("rate");
    if (const auto place = find("antenna"))
        tuning.antenna = place->device.read(place->channel, place->attribute);
    tuning.hardware = converter_.name();
    if (phy_)
        tuning.hardware += " behind " + phy_->name();
    return tuning;
}

} // namespace iio_stream::iio
