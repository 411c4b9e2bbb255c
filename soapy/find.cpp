// SPDX-License-Identifier: MIT
#include "find.hpp"

#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/usb.hpp"
#include "port.hpp"

#include <SoapySDR/Logger.hpp>
#include <algorithm>
#include <iterator>

namespace iio_stream::soapy {

namespace {

/// One buffer of a device.
struct End {
    Uri endpoint;
    std::string front; ///< the device that tunes it, or the device itself
    bool output;
};

Uri endpoint_of(const DeviceInfo& device, const BufferInfo& buffer, const std::string& context,
                bool unique)
{
    Uri uri("iio:");
    uri.rest = unique ? device.name : device.id;
    if (buffer.index != 0)
        uri.options.set("buffer", std::to_string(buffer.index));
    if (context != "local:")
        uri.options.set("uri", context);
    return uri;
}

std::string front_of(const DeviceInfo& device, const BufferInfo& buffer)
{
    for (const char* what : {"frequency", "gain", "bandwidth", "rate"})
        if (const auto found = buffer.tuning.find(what);
            found != buffer.tuning.end() && !found->second.empty())
            return found->second[0].substr(0, found->second[0].find('/'));
    return device.name;
}

std::vector<End> ends_of(const std::string& context)
{
    const std::vector<DeviceInfo> all = devices(context);
    std::vector<End> ends;
    for (const DeviceInfo& device : all) {
        const auto same = std::count_if(all.begin(), all.end(), [&](const DeviceInfo& other) {
            return other.name == device.name;
        });
        for (const BufferInfo& buffer : device.buffers)
            if (!buffer.channels.empty())
                ends.push_back(
                    {endpoint_of(device, buffer, context, same == 1 && !device.name.empty()),
                     front_of(device, buffer), buffer.output});
    }
    return ends;
}

SoapySDR::Kwargs described(SoapySDR::Kwargs radio, const std::string& front)
{
    std::string ends;
    for (const char* key : {"uri", "tx"})
        if (radio.contains(key))
            ends += (ends.empty() ? "" : ", ") + radio.at(key);
    radio["label"] = (front.empty() ? "" : front + ": ") + ends;
    return radio;
}

// Returns the radio whose endpoints the program names. The endpoints are not looked up, except that
// a single IIO device is completed with its partner for the other direction.
SoapySDR::Kwargs named(const SoapySDR::Kwargs& args)
{
    SoapySDR::Kwargs radio;
    for (const char* key : {"uri", "tx"})
        if (args.contains(key) && !args.at(key).empty()) {
            const Uri endpoint(args.at(key)); // throws if the text is not an endpoint
            radio[key] = args.at(key);
            if (args.size() == 1 + args.count("driver") && endpoint.scheme == "iio")
                for (const SoapySDR::Kwargs& found : radios(endpoint.options.get("uri", "local:")))
                    if (found.contains(key) && found.at(key) == endpoint.text())
                        return found;
        }
    if (radio.empty())
        fail_usage("neither uri= nor tx= names an endpoint", "uri=sim: or uri=iio:DEVICE");
    return described(radio, "");
}

bool matches(const SoapySDR::Kwargs& radio, const SoapySDR::Kwargs& args)
{
    return std::all_of(args.begin(), args.end(), [&](const auto& wanted) {
        const auto found = radio.find(wanted.first);
        if (found == radio.end())
            return wanted.first != "serial"; // other arguments do not select a radio
        return found->second == wanted.second;
    });
}

std::vector<SoapySDR::Kwargs> boards()
try {
    std::vector<SoapySDR::Kwargs> found;
    for (const UsbBoard& board : usb_boards()) {
        const std::string address = board.endpoint().text();
        found.push_back(
            {{"uri", address}, {"serial", board.serial}, {"label", "board on USB: " + address}});
    }
    return found;
} catch (const Error& error) { // other radios are still found
    SoapySDR::logf(SOAPY_SDR_DEBUG, "iiostream: %s", error.what());
    return {};
}

} // namespace

std::vector<SoapySDR::Kwargs> radios(const std::string& context)
{
    const std::vector<End> ends = ends_of(context);
    std::vector<bool> paired(ends.size(), false);
    std::vector<SoapySDR::Kwargs> found;
    for (const End& source : ends) {
        if (source.output)
            continue;
        SoapySDR::Kwargs radio{{"uri", source.endpoint.text()}};
        for (std::size_t i = 0; i < ends.size() && !radio.contains("tx"); ++i)
            if (ends[i].output && !paired[i] && ends[i].front == source.front) {
                paired[i] = true;
                radio["tx"] = ends[i].endpoint.text();
            }
        found.push_back(described(radio, source.front));
    }
    for (std::size_t i = 0; i < ends.size(); ++i)
        if (ends[i].output && !paired[i])
            found.push_back(described({{"tx", ends[i].endpoint.text()}}, ends[i].front));
    return found;
}

SoapySDR::KwargsList find_radios(const SoapySDR::Kwargs& args) noexcept
try {
    if (args.contains("uri") || args.contains("tx"))
        return {named(args)};
    const auto context = args.find("context");
    SoapySDR::KwargsList found;
    const auto add = [&](std::vector<SoapySDR::Kwargs> all) {
        std::copy_if(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
                     std::back_inserter(found),
                     [&](const SoapySDR::Kwargs& radio) { return matches(radio, args); });
    };
    add(radios(context == args.end() ? "local:" : context->second));
    if (context == args.end())
        add(boards());
    return found;
} catch (const std::exception& error) {
    SoapySDR::logf(SOAPY_SDR_ERROR, "iiostream: %s", error.what());
    return {};
}

} // namespace iio_stream::soapy
