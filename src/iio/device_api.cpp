// SPDX-License-Identifier: MIT
#include "iio/context/attributes.hpp"
#include "iio/info.hpp"
#include "iio/open_context.hpp"
#include "iio/tuning/tuning_watch.hpp"
#include "iio_stream/device.hpp"
#include "iio_stream/error.hpp"

#include <cmath>
#include <utility>

namespace iio_stream {

struct Device::Impl {
    struct Found {
        iio::Device device;
        iio::AttributePath path;
    };

    Impl(const std::string& name, std::string where)
        : uri(std::move(where)), device(iio::find_device(iio::open_context(uri), uri, name))
    {}

    Found find(const std::string& attribute) const
    {
        iio::AttributePath at = iio::AttributePath::parse(attribute, device.context());
        return {at.device.empty() ? device : iio::find_device(device.context(), uri, at.device),
                at};
    }

    std::string uri;
    iio::Device device;
};

namespace {

// Whole numbers get no decimal point and no exponent, because drivers whose values are in hertz
// refuse 1e6 and 1000000.0. Other drivers accept fractions such as 20.5.
std::string attribute_text(double value)
{
    return std::trunc(value) == value && std::abs(value) < 1e18 ? iio::hertz_text(value)
                                                                : iio::number_text(value);
}

double leading_number(const std::string& attribute, const std::string& value)
{
    const auto number = iio::number_in_value(value);
    if (!number)
        fail_usage(attribute + " is '" + value + "', which does not begin with a number",
                   "get() returns the text");
    return *number;
}

} // namespace

Device::Device(const std::string& name, const std::string& uri)
    : impl_(std::make_unique<Impl>(name, uri))
{}
Device::Device(Device&&) noexcept = default;
Device::~Device() = default;

DeviceInfo Device::info() const
{
    return iio::info_of(impl_->device);
}

std::string Device::get(const std::string& attribute) const
{
    const Impl::Found found = impl_->find(attribute);
    return iio::value_text(found.device.read(found.path.channel, found.path.name));
}

double Device::get_number(const std::string& attribute) const
{
    return leading_number(attribute, get(attribute));
}

std::string Device::set(const std::string& attribute, const std::string& value)
{
    const Impl::Found found = impl_->find(attribute);
    const iio::TuningNotice notice;
    return iio::value_text(found.device.write(found.path.channel, found.path.name, value));
}

double Device::set(const std::string& attribute, double value)
{
    return leading_number(attribute, set(attribute, attribute_text(value)));
}

Tuning Device::tuning() const
{
    return iio::tune_device(impl_->device, impl_->uri, "auto", 0, "", {});
}

Tuning Device::tune(const TuningRequest& wanted)
{
    Options options;
    for (const auto& [key, number] :
         {std::pair("rate", wanted.rate), std::pair("frequency", wanted.frequency),
          std::pair("bandwidth", wanted.bandwidth), std::pair("gain", wanted.gain)})
        if (number)
            options.set(key, iio::number_text(*number));
    for (const auto& [key, text] :
         {std::pair("agc", wanted.agc), std::pair("antenna", wanted.antenna)})
        if (!text.empty())
            options.set(key, text);
    return iio::tune_device(impl_->device, impl_->uri, "auto", wanted.buffer, wanted.channels,
                            std::move(options));
}

} // namespace iio_stream
