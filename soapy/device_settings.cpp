// SPDX-License-Identifier: MIT
#include "device.hpp"
#include "iio_stream/units.hpp"
#include "ranges.hpp"

#include <SoapySDR/Logger.hpp>
#include <algorithm>
#include <charconv>

namespace iio_stream::soapy {

namespace {

constexpr const char* kAgcMode = "agc_mode";

double number_in(const std::string& text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        fail_usage("'" + text + "' begins with no number");
    return value;
}

std::string path_of(const std::string& device, const AttributeInfo& attribute)
{
    return device + "/" + (attribute.channel.empty() ? "" : attribute.channel + "/") +
           attribute.name;
}

const AttributeInfo* find(const DeviceInfo& device, const std::string& channel,
                          const std::string& name)
{
    for (const AttributeInfo& attribute : device.attributes)
        if (attribute.channel == channel && attribute.name == name)
            return &attribute;
    return nullptr;
}

// An attribute that a driver lists the values or the range of.
SoapySDR::ArgInfo setting_of(const std::string& device, const AttributeInfo& attribute,
                             const std::string& available)
{
    SoapySDR::ArgInfo info;
    info.key = info.name = path_of(device, attribute);
    info.value = attribute.value;
    info.description = "IIO attribute of the device";
    info.type = SoapySDR::ArgInfo::STRING;
    if (available.starts_with('[')) {
        info.type = SoapySDR::ArgInfo::FLOAT;
        info.range = whole_range(ranges_of(available), 0);
    } else {
        info.options = words_of(available);
    }
    return info;
}

} // namespace

// The front end's attributes: those with a choice are settings, its thermometers are sensors.
void Radio::find_sensors()
{
    if (!any_port().is_device())
        return;
    DeviceInfo front;
    try {
        front = device(any_port().name(), any_port().context());
    } catch (const Error& error) {
        SoapySDR::logf(SOAPY_SDR_DEBUG, "iiostream: %s", error.what());
        return;
    }
    const std::string name = any_port().name();
    for (const AttributeInfo& attribute : front.attributes) {
        if (const AttributeInfo* available =
                find(front, attribute.channel, attribute.name + "_available"))
            attributes_.push_back(setting_of(name, attribute, available->value));
        if (!attribute.channel.starts_with("in_temp") ||
            (attribute.name != "input" && attribute.name != "raw"))
            continue;
        if (attribute.name == "raw" && find(front, attribute.channel, "input") != nullptr)
            continue;
        const std::string number = attribute.channel.substr(7);
        sensors_.push_back({"temperature" + (number == "0" ? "" : number), path_of(name, attribute),
                            "Temperature of " + name, "C", attribute.name == "raw", 1e-3});
    }
}

std::string Radio::read(const Sensor& sensor) const
{
    const Port& any = any_port();
    double value = number_in(any.get_attribute(sensor.attribute));
    if (sensor.raw) {
        const std::string channel = sensor.attribute.substr(0, sensor.attribute.rfind('/') + 1);
        const auto other = [&](const char* name, double otherwise) {
            try {
                return number_in(any.get_attribute(channel + name));
            } catch (const Error&) {
                return otherwise;
            }
        };
        value = (value + other("offset", 0)) * other("scale", 1);
    }
    return text_of(value * sensor.factor);
}

bool Radio::hasHardwareTime(const std::string& what) const
{
    return what.empty();
}

long long Radio::getHardwareTime(const std::string& what) const
{
    if (!what.empty())
        fail_usage("hardware time '" + what + "'", "there is one clock, without a name");
    return now_ns();
}

std::vector<std::string> Radio::listSensors() const
{
    std::vector<std::string> keys;
    for (const Sensor& sensor : sensors_)
        keys.push_back(sensor.key);
    return keys;
}

namespace {

template <typename Sensor>
SoapySDR::ArgInfo info_of(const Sensor& sensor)
{
    SoapySDR::ArgInfo info;
    info.key = info.name = sensor.key;
    info.description = sensor.description;
    info.units = sensor.units;
    info.type = SoapySDR::ArgInfo::FLOAT;
    return info;
}

} // namespace

SoapySDR::ArgInfo Radio::getSensorInfo(const std::string& key) const
{
    for (const Sensor& sensor : sensors_)
        if (sensor.key == key)
            return info_of(sensor);
    fail_usage("sensor '" + key + "'", suggest(key, listSensors()));
}

std::string Radio::readSensor(const std::string& key) const
{
    for (const Sensor& sensor : sensors_)
        if (sensor.key == key)
            return read(sensor);
    fail_usage("sensor '" + key + "'", suggest(key, listSensors()));
}

// Next to the gain of a receiver.
std::optional<Radio::Sensor> Radio::channel_sensor(int direction, size_t channel) const
{
    const std::string gain = port(direction).attribute("gain", channel);
    if (direction != SOAPY_SDR_RX || gain.empty())
        return std::nullopt;
    const std::string path = gain.substr(0, gain.rfind('/') + 1) + "rssi";
    try {
        (void)port(direction).get_attribute(path);
    } catch (const Error&) {
        return std::nullopt;
    }
    return Sensor{"rssi", path, "Strength of the received signal below full scale", "dB", false, 1};
}

std::vector<std::string> Radio::listSensors(int direction, size_t channel) const
{
    const auto sensor = channel_sensor(direction, channel);
    return sensor ? std::vector<std::string>{sensor->key} : std::vector<std::string>{};
}

SoapySDR::ArgInfo Radio::getSensorInfo(int direction, size_t channel, const std::string& key) const
{
    const auto sensor = channel_sensor(direction, channel);
    if (!sensor || sensor->key != key)
        fail_usage("sensor '" + key + "'", suggest(key, listSensors(direction, channel)));
    return info_of(*sensor);
}

std::string Radio::readSensor(int direction, size_t channel, const std::string& key) const
{
    const auto sensor = channel_sensor(direction, channel);
    if (!sensor || sensor->key != key)
        fail_usage("sensor '" + key + "'", suggest(key, listSensors(direction, channel)));
    return read(*sensor);
}

SoapySDR::ArgInfoList Radio::getSettingInfo() const
{
    if (any_port().is_device())
        return attributes_;
    SoapySDR::ArgInfoList settings;
    for (const Option& option : any_port().options())
        if (!any_port().tunes(std::string(option.key)))
            settings.push_back(describe(option));
    return settings;
}

void Radio::writeSetting(const std::string& key, const std::string& value)
{
    Port& any = receive_ ? *receive_ : *transmit_;
    if (any.is_device()) {
        any.set_attribute(key, value);
        return;
    }
    const std::vector<Option> options = any.options();
    const Option* const option = option_named(options, key);
    if (option == nullptr) {
        std::vector<std::string> keys;
        for (const Option& known : options)
            keys.emplace_back(known.key);
        fail_usage("setting '" + key + "'", suggest(key, keys));
    }
    check_choice(describe(*option), value); // now, and not when a stream starts
    any.set_option(std::string(option->key), value);
}

std::string Radio::readSetting(const std::string& key) const
{
    return any_port().is_device() ? any_port().get_attribute(key) : any_port().option(key);
}

SoapySDR::ArgInfoList Radio::getSettingInfo(int direction, size_t channel) const
{
    if (!hasGainMode(direction, channel))
        return {};
    SoapySDR::ArgInfo info;
    info.key = info.name = kAgcMode;
    info.value = automatic_mode(direction, channel);
    info.description = "Mode of the gain control while it is automatic";
    info.type = SoapySDR::ArgInfo::STRING;
    info.options = gain_modes(direction, channel);
    return {info};
}

void Radio::writeSetting(int direction, size_t channel, const std::string& key,
                         const std::string& value)
{
    if (key != kAgcMode || !hasGainMode(direction, channel))
        fail_usage("setting '" + key + "' of a channel",
                   hasGainMode(direction, channel) ? "known: agc_mode" : "");
    const std::vector<std::string> modes = gain_modes(direction, channel);
    if (!modes.empty() && std::find(modes.begin(), modes.end(), value) == modes.end())
        fail_usage("agc_mode '" + value + "'", suggest(value, modes));
    const bool automatic = getGainMode(direction, channel);
    {
        const std::lock_guard lock(mutex_);
        agc_modes_[{direction, channel}] = value;
    }
    if (automatic)
        port(direction).tune(channel, {.agc = value});
}

std::string Radio::readSetting(int direction, size_t channel, const std::string& key) const
{
    if (key != kAgcMode)
        fail_usage("setting '" + key + "' of a channel", "known: agc_mode");
    return automatic_mode(direction, channel);
}

} // namespace iio_stream::soapy
