// SPDX-License-Identifier: MIT
#include "device.hpp"
#include "iio_stream/units.hpp"
#include "ranges.hpp"

#include <algorithm>

namespace iio_stream::soapy {

namespace {

/// The name that SoapySDR's programs know from SoapyPlutoSDR: the gain of all stages together.
constexpr const char* kGain = "PGA";
constexpr const char* kFrequency = "RF";

void check_name(const std::string& name, const char* known, const char* what)
{
    if (name != known)
        fail_usage(std::string(what) + " '" + name + "'", std::string("known: ") + known);
}

// In these the program sets the gain.
bool is_manual(const std::string& mode)
{
    return mode == "manual" || mode == "spi";
}

std::vector<double> single_values(const SoapySDR::RangeList& ranges)
{
    std::vector<double> values;
    for (const SoapySDR::Range& range : ranges)
        if (range.minimum() == range.maximum())
            values.push_back(range.minimum());
    return values;
}

} // namespace

std::vector<std::string> Radio::listAntennas(int direction, size_t channel) const
{
    std::vector<std::string> names = words_of(port(direction).available("antenna", channel));
    if (names.empty() && port(direction).tunes("antenna"))
        if (std::string now = port(direction).tuning(channel).antenna; !now.empty())
            names = {now};
    return names.empty() ? std::vector<std::string>{direction == SOAPY_SDR_RX ? "RX" : "TX"}
                         : names;
}

void Radio::setAntenna(int direction, size_t channel, const std::string& name)
{
    const std::vector<std::string> known = listAntennas(direction, channel);
    if (port(direction).tunes("antenna"))
        port(direction).tune(channel, {.antenna = name});
    else if (std::find(known.begin(), known.end(), name) == known.end())
        fail_usage("antenna '" + name + "'", suggest(name, known));
}

std::string Radio::getAntenna(int direction, size_t channel) const
{
    const std::string now =
        port(direction).tunes("antenna") ? port(direction).tuning(channel).antenna : "";
    return now.empty() ? listAntennas(direction, channel)[0] : now;
}

std::vector<std::string> Radio::listGains(int direction, size_t channel) const
{
    (void)port(direction).channel(channel);
    return port(direction).tunes("gain") ? std::vector<std::string>{kGain}
                                         : std::vector<std::string>{};
}

std::vector<std::string> Radio::gain_modes(int direction, size_t channel) const
{
    return words_of(port(direction).available("agc", channel));
}

bool Radio::hasGainMode(int direction, size_t) const
{
    return port(direction).tunes("agc");
}

// As the program has chosen, or what most receivers have, or the first.
std::string Radio::automatic_mode(int direction, size_t channel) const
{
    {
        const std::lock_guard lock(mutex_);
        if (const auto chosen = agc_modes_.find({direction, channel}); chosen != agc_modes_.end())
            return chosen->second;
    }
    std::vector<std::string> modes = gain_modes(direction, channel);
    std::erase_if(modes, &is_manual);
    if (modes.empty() || std::find(modes.begin(), modes.end(), "slow_attack") != modes.end())
        return "slow_attack";
    return modes[0];
}

void Radio::setGainMode(int direction, size_t channel, bool automatic)
{
    if (!hasGainMode(direction, channel)) {
        if (automatic)
            fail_usage("the device has no automatic gain control", "setGain() sets its gain");
        return;
    }
    if (automatic == getGainMode(direction, channel))
        return;
    std::string mode = automatic_mode(direction, channel);
    if (!automatic) {
        const std::vector<std::string> modes = gain_modes(direction, channel);
        const auto manual = std::find_if(modes.begin(), modes.end(), &is_manual);
        mode = manual == modes.end() ? "manual" : *manual;
    }
    port(direction).tune(channel, {.agc = mode});
}

bool Radio::getGainMode(int direction, size_t channel) const
{
    if (!hasGainMode(direction, channel))
        return false;
    const std::string mode = port(direction).tuning(channel).agc;
    return !mode.empty() && !is_manual(mode);
}

void Radio::setGain(int direction, size_t channel, double value)
{
    if (port(direction).tunes("gain"))
        setGain(direction, channel, kGain, value);
}

void Radio::setGain(int direction, size_t channel, const std::string& name, double value)
{
    check_name(name, kGain, "gain");
    const SoapySDR::Range range = getGainRange(direction, channel, name);
    if (range.minimum() < range.maximum())
        value = std::clamp(value, range.minimum(), range.maximum());
    port(direction).tune(channel, {.gain = value});
}

double Radio::getGain(int direction, size_t channel) const
{
    return port(direction).tunes("gain") ? getGain(direction, channel, kGain) : 0;
}

double Radio::getGain(int direction, size_t channel, const std::string& name) const
{
    check_name(name, kGain, "gain");
    return port(direction).tuning(channel).gain.value_or(0);
}

SoapySDR::Range Radio::getGainRange(int direction, size_t channel) const
{
    return port(direction).tunes("gain") ? getGainRange(direction, channel, kGain)
                                         : SoapySDR::Range();
}

SoapySDR::Range Radio::getGainRange(int direction, size_t channel, const std::string& name) const
{
    check_name(name, kGain, "gain");
    const SoapySDR::RangeList ranges = ranges_of(port(direction).available("gain", channel));
    return whole_range(ranges, ranges.empty() ? getGain(direction, channel, name) : 0);
}

std::vector<std::string> Radio::listFrequencies(int direction, size_t channel) const
{
    (void)port(direction).channel(channel);
    return port(direction).tunes("frequency") ? std::vector<std::string>{kFrequency}
                                              : std::vector<std::string>{};
}

void Radio::setFrequency(int direction, size_t channel, const std::string& name, double frequency,
                         const SoapySDR::Kwargs&)
{
    check_name(name, kFrequency, "frequency");
    port(direction).tune(channel, {.frequency = frequency});
}

double Radio::getFrequency(int direction, size_t channel, const std::string& name) const
{
    check_name(name, kFrequency, "frequency");
    return port(direction).tuning(channel).frequency.value_or(0);
}

SoapySDR::RangeList Radio::getFrequencyRange(int direction, size_t channel,
                                             const std::string& name) const
{
    check_name(name, kFrequency, "frequency");
    return ranges_of(port(direction).available("frequency", channel));
}

void Radio::setSampleRate(int direction, size_t channel, double rate)
{
    if (!(rate > 0))
        fail_usage("sample rate " + std::to_string(rate), "must be above 0");
    if (port(direction).tunes("rate"))
        port(direction).tune(channel, {.rate = rate});
    else if (const double now = getSampleRate(direction, channel); now != 0 && now != rate)
        fail_usage("sample rate " + std::to_string(rate),
                   "this device has one rate, " + std::to_string(now));
}

double Radio::getSampleRate(int direction, size_t channel) const
{
    return port(direction).tuning(channel).rate.value_or(0);
}

SoapySDR::RangeList Radio::getSampleRateRange(int direction, size_t channel) const
{
    SoapySDR::RangeList ranges = ranges_of(port(direction).available("rate", channel));
    if (ranges.empty() && !port(direction).is_device() && port(direction).tunes("rate"))
        ranges.emplace_back(1, 1e9); // the machine is the limit
    if (const double now = getSampleRate(direction, channel); ranges.empty() && now > 0)
        ranges.emplace_back(now, now);
    return ranges;
}

std::vector<double> Radio::listSampleRates(int direction, size_t channel) const
{
    return single_values(getSampleRateRange(direction, channel));
}

void Radio::setBandwidth(int direction, size_t channel, double bandwidth)
{
    if (bandwidth != 0 && port(direction).tunes("bandwidth")) // 0: automatic, says SoapySDR
        port(direction).tune(channel, {.bandwidth = bandwidth});
}

double Radio::getBandwidth(int direction, size_t channel) const
{
    return port(direction).tuning(channel).bandwidth.value_or(0);
}

SoapySDR::RangeList Radio::getBandwidthRange(int direction, size_t channel) const
{
    return ranges_of(port(direction).available("bandwidth", channel));
}

std::vector<double> Radio::listBandwidths(int direction, size_t channel) const
{
    return single_values(getBandwidthRange(direction, channel));
}

} // namespace iio_stream::soapy
