// SPDX-License-Identifier: MIT
#include "conformance/silence.hpp"

#include "core/base/text.hpp"
#include "iio/context/attributes.hpp"
#include "iio/tuning/front_end.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cmath>

namespace iio_stream::conformance {

namespace {

std::string file_of(const iio::Device& device, const std::string& channel,
                    const std::string& attribute)
{
    return "/sys/bus/iio/devices/" + device.id() + "/" + device.file_of(channel, attribute);
}

// The smallest gain of a range, "[-89.75 0.25 0]", or of a list.
std::optional<double> least_gain(const std::string& available)
{
    std::string text = available;
    const bool range = text.starts_with("[");
    std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
    std::vector<double> numbers;
    for (const std::string& word : detail::split(text, ' '))
        if (const auto number = iio::number_in_value(word))
            numbers.push_back(*number);
    if (numbers.empty())
        return std::nullopt;
    return range ? numbers.front() : *std::min_element(numbers.begin(), numbers.end());
}

} // namespace

Silence::Silence(Run& run, const Subject& output) : settings_(run)
{
    const iio::FrontEnd front(output.device, "local:", "auto", iio::Direction::transmit,
                              output.buffer.channels);
    const auto oscillators = front.places("frequency"), gains = front.places("gain");
    if (oscillators.empty() || gains.empty()) {
        missing_ =
            output.name() + (oscillators.empty() ? " has no oscillator that can be switched off"
                                                 : " has no gain that can be reduced");
        return;
    }
    try {
        for (const iio::TuningTarget& target : gains)
            attenuate(target.device, target.channel);
        for (const iio::TuningTarget& target : oscillators)
            power_down(target.device, target.channel);
    } catch (const Error& error) {
        detail::add_clause(missing_, error.what());
    }
}

void Silence::power_down(const iio::Device& device, const std::string& channel)
{
    if (!device.has(channel, "powerdown")) {
        detail::add_clause(missing_, device.name() + "/" + channel + " has no powerdown");
        return;
    }
    const std::string path = file_of(device, channel, "powerdown");
    const std::string read = settings_.set(path, "1");
    if (read != "1")
        detail::add_clause(missing_, device.name() + "/" + channel + "/powerdown reads '" + read +
                                         "' after 1 was written");
    expected_.emplace_back(path, "1");
    detail::add_item(text_, device.name() + "/" + channel + " is powered down");
}

void Silence::attenuate(const iio::Device& device, const std::string& channel)
{
    const iio::TuningTarget target{device, channel, "hardwaregain", {}, {}};
    const auto least =
        device.has(channel, "hardwaregain") ? least_gain(iio::available_for(target)) : std::nullopt;
    if (!least) {
        detail::add_clause(missing_, device.name() + "/" + channel +
                                         " does not list its gains, so the smallest is unknown");
        return;
    }
    const std::string path = file_of(device, channel, "hardwaregain");
    const std::string read = settings_.set(path, iio::number_text(*least));
    const auto got = iio::number_in_value(read);
    if (!got || std::abs(*got - *least) > 1e-6)
        detail::add_clause(missing_, device.name() + "/" + channel + "/hardwaregain reads '" +
                                         read + "' after " + iio::number_text(*least) +
                                         " was written");
    expected_.emplace_back(path, read);
    detail::add_item(text_, device.name() + "/" + channel + " has a gain of " + read);
}

std::string Silence::broken() const
{
    for (const auto& [path, value] : expected_)
        if (const std::string read = sys::read_text(path).value_or(""); read != value)
            return path + " reads '" + read + "' instead of '" + value + "' since the DAC started";
    return "";
}

bool may_transmit(Run& run, const Silence& silence)
{
    if (run.options().transmit || silence.missing().empty())
        return true;
    run.skip("a DAC is enabled only with --transmit: " + silence.missing());
    return false;
}

} // namespace iio_stream::conformance
