// SPDX-License-Identifier: MIT
#include "radio.hpp"

#include "find.hpp"
#include "formats.hpp"
#include "iio_stream/units.hpp"
#include "ranges.hpp"
#include "rx_stream.hpp"
#include "stream.hpp"
#include "tx_stream.hpp"

#include <SoapySDR/Logger.hpp>
#include <SoapySDR/Registry.hpp>
#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace iio_stream::soapy {

namespace {

constexpr const char* kOwnKeys[] = {"driver", "uri", "tx", "label", "context"};

// Returns the source. Other arguments of the program are options of the source, or are ignored.
Uri source_of(const SoapySDR::Kwargs& args)
{
    Uri source(args.at("uri"));
    std::vector<Option> options;
    for (const Scheme& scheme : schemes())
        if (scheme.name == source.scheme)
            options = options_of(scheme, OptionSide::source);
    for (const auto& [key, value] : args) {
        if (std::find(std::begin(kOwnKeys), std::end(kOwnKeys), key) != std::end(kOwnKeys))
            continue;
        if (const Option* const option = option_named(options, key))
            source.options = with_option(source.options, std::string(option->key), value);
        else
            SoapySDR::logf(SOAPY_SDR_DEBUG,
                           "iiostream: argument '%s' is not an option of %s:", key.c_str(),
                           source.scheme.c_str());
    }
    return source;
}

/// The name that SoapyPlutoSDR uses for the gain of all stages together.
constexpr const char* kGain = "PGA";
constexpr const char* kFrequency = "RF";

void check_name(const std::string& name, const char* known, const char* what)
{
    if (name != known)
        fail_usage(std::string(what) + " '" + name + "'", std::string("known: ") + known);
}

// Returns whether the program sets the gain in this mode.
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

constexpr const char* kAgcMode = "agc_mode";

double number_in(const std::string& text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
        fail_usage("'" + text + "' does not begin with a number");
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

// Describes an attribute for which the driver lists the values or the range.
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

// Converts exceptions to a code, because programs in C, and many in C++, do not expect any here.
template <typename Call>
int coded(Call call) noexcept
try {
    return call();
} catch (const std::exception& error) {
    SoapySDR::logf(SOAPY_SDR_ERROR, "iiostream: %s", error.what());
    return SOAPY_SDR_STREAM_ERROR;
}

} // namespace

Radio::Radio(const SoapySDR::Kwargs& args)
{
    if (args.contains("uri") && !args.at("uri").empty())
        receive_.emplace(Port::Way::receive, source_of(args));
    if (args.contains("tx") && !args.at("tx").empty())
        transmit_.emplace(Port::Way::transmit, Uri(args.at("tx")));
    if (!receive_ && !transmit_)
        fail_usage("neither uri= nor tx= names an endpoint",
                   "driver=iiostream,uri=sim: or uri=iio:DEVICE");
    find_sensors();
}

Radio::~Radio() = default;

const Port& Radio::port(int direction) const
{
    const auto& found = direction == SOAPY_SDR_RX ? receive_ : transmit_;
    if (!found)
        fail_usage(direction == SOAPY_SDR_RX ? "the device does not receive"
                                             : "the device does not transmit",
                   direction == SOAPY_SDR_RX ? "uri= names a source" : "tx= names a sink");
    return *found;
}

Port& Radio::port(int direction)
{
    return const_cast<Port&>(std::as_const(*this).port(direction));
}

const Port& Radio::any_port() const
{
    return receive_ ? *receive_ : *transmit_;
}

std::string Radio::getHardwareKey() const
{
    return any_port().name();
}

SoapySDR::Kwargs Radio::getHardwareInfo() const
{
    SoapySDR::Kwargs info{{"iio_stream", version()}};
    if (receive_)
        info["uri"] = receive_->endpoint().text();
    if (transmit_)
        info["tx"] = transmit_->endpoint().text();
    if (!any_port().context().empty())
        info["context"] = any_port().context();
    if (any_port().channels() != 0)
        if (const std::string hardware = any_port().tuning(0).hardware; !hardware.empty())
            info["hardware"] = hardware;
    return info;
}

size_t Radio::getNumChannels(int direction) const
{
    const auto& found = direction == SOAPY_SDR_RX ? receive_ : transmit_;
    return found ? found->channels() : 0;
}

SoapySDR::Kwargs Radio::getChannelInfo(int direction, size_t channel) const
{
    std::string ids, types;
    for (const Channel& value : port(direction).channel(channel)) {
        ids += (ids.empty() ? "" : ",") + value.id;
        types += (types.empty() ? "" : ",") + value.type.text();
    }
    return {{"channels", ids}, {"scan_types", types}};
}

bool Radio::getFullDuplex(int, size_t) const
{
    return receive_ && transmit_;
}

namespace {

SoapySDR::Device* make_radio(const SoapySDR::Kwargs& args)
{
    return new Radio(args); // SoapySDR deletes it
}

const SoapySDR::Registry kRegistered("iiostream", &find_radios, &make_radio, SOAPY_SDR_ABI_VERSION);

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

// Returns the mode that the program has chosen, or slow_attack if the receiver has it, or the first
// automatic mode.
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
        ranges.emplace_back(1, 1e9); // only the machine limits the rate
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
    if (bandwidth != 0 && port(direction).tunes("bandwidth")) // in SoapySDR, 0 means automatic
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

// Finds the attributes of the front end that have a list or range of values, which are settings,
// and the temperature channels, which are sensors.
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
        fail_usage("hardware time '" + what + "'", "the only clock has no name");
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

// Returns the sensor rssi, which is an attribute of the same channel as a receiver's gain.
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
    check_choice(describe(*option), value); // report an error now, not when a stream starts
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

std::vector<std::string> Radio::getStreamFormats(int direction, size_t channel) const
{
    return stream_formats(port(direction).channel(channel));
}

std::string Radio::getNativeStreamFormat(int direction, size_t channel, double& full_scale) const
{
    const NativeFormat native = native_format(port(direction).channel(channel));
    full_scale = native.full_scale;
    return native.name;
}

SoapySDR::ArgInfoList Radio::getStreamArgsInfo(int direction, size_t) const
{
    return stream_args(port(direction));
}

SoapySDR::Stream* Radio::setupStream(int direction, const std::string& format,
                                     const std::vector<size_t>& channels,
                                     const SoapySDR::Kwargs& args)
{
    Port& used = port(direction);
    StreamRequest request{format, channels, args};
    if (request.channels.empty())
        request.channels = {0};
    for (const std::size_t channel : request.channels)
        (void)element_bytes(format, used.channel(channel));
    std::shared_ptr<Stream> stream;
    if (direction == SOAPY_SDR_RX)
        stream = std::make_shared<RxStream>(used, std::move(request));
    else
        stream = std::make_shared<TxStream>(used, std::move(request));
    auto* const handle = reinterpret_cast<SoapySDR::Stream*>(stream.get());
    const std::lock_guard lock(mutex_);
    streams_[handle] = std::move(stream);
    return handle;
}

void Radio::closeStream(SoapySDR::Stream* handle)
{
    std::shared_ptr<Stream> closed; // destroyed outside the lock, after the last call that uses it
    const std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(handle); found != streams_.end()) {
        closed = std::move(found->second);
        streams_.erase(found);
    }
}

std::shared_ptr<Stream> Radio::stream(SoapySDR::Stream* handle) const
{
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end())
        throw std::invalid_argument("the stream is closed, or belongs to another device");
    return found->second;
}

size_t Radio::getStreamMTU(SoapySDR::Stream* handle) const
{
    return stream(handle)->mtu();
}

int Radio::activateStream(SoapySDR::Stream* handle, int flags, long long time_ns, size_t elements)
{
    return coded([&] { return stream(handle)->activate(flags, time_ns, elements); });
}

int Radio::deactivateStream(SoapySDR::Stream* handle, int flags, long long time_ns)
{
    return coded([&] { return stream(handle)->deactivate(flags, time_ns); });
}

int Radio::readStream(SoapySDR::Stream* handle, void* const* out, size_t elements, int& flags,
                      long long& time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->read(out, elements, flags, time_ns, timeout_us); });
}

int Radio::writeStream(SoapySDR::Stream* handle, const void* const* in, size_t elements, int& flags,
                       long long time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->write(in, elements, flags, time_ns, timeout_us); });
}

int Radio::readStreamStatus(SoapySDR::Stream* handle, size_t& channels, int& flags,
                            long long& time_ns, long timeout_us)
{
    return coded([&] { return stream(handle)->status(channels, flags, time_ns, timeout_us); });
}

size_t Radio::getNumDirectAccessBuffers(SoapySDR::Stream* handle)
{
    return stream(handle)->buffers();
}

int Radio::acquireReadBuffer(SoapySDR::Stream* handle, size_t& buffer, const void** out, int& flags,
                             long long& time_ns, long timeout_us)
{
    return coded(
        [&] { return stream(handle)->acquire_read(buffer, out, flags, time_ns, timeout_us); });
}

void Radio::releaseReadBuffer(SoapySDR::Stream* handle, size_t buffer)
{
    (void)coded([&] {
        stream(handle)->release_read(buffer);
        return 0;
    });
}

int Radio::acquireWriteBuffer(SoapySDR::Stream* handle, size_t& buffer, void** out, long timeout_us)
{
    return coded([&] { return stream(handle)->acquire_write(buffer, out, timeout_us); });
}

void Radio::releaseWriteBuffer(SoapySDR::Stream* handle, size_t buffer, size_t elements, int& flags,
                               long long time_ns)
{
    (void)coded([&] {
        stream(handle)->release_write(buffer, elements, flags, time_ns);
        return 0;
    });
}

} // namespace iio_stream::soapy
