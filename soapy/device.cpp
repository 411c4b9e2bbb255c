// SPDX-License-Identifier: MIT
#include "device.hpp"

#include "find.hpp"
#include "iio_stream/units.hpp"
#include "stream.hpp"

#include <SoapySDR/Logger.hpp>
#include <SoapySDR/Registry.hpp>
#include <algorithm>

namespace iio_stream::soapy {

namespace {

constexpr const char* kOwnKeys[] = {"driver", "uri", "tx", "label", "context"};

// What the program gives besides is an option of the source, or of no meaning here.
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
                           "iiostream: argument '%s' is not known to %s:", key.c_str(),
                           source.scheme.c_str());
    }
    return source;
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

} // namespace iio_stream::soapy
