// SPDX-License-Identifier: MIT
#include "port.hpp"

#include "iio_stream/endpoint.hpp"
#include "iio_stream/reader.hpp"
#include "iio_stream/units.hpp"
#include "ranges.hpp"

#include <algorithm>
#include <array>

namespace iio_stream::soapy {

namespace {

const Scheme& scheme_of(const Uri& endpoint)
{
    for (const Scheme& scheme : schemes())
        if (scheme.name == endpoint.scheme)
            return scheme;
    fail_usage("'" + endpoint.text() + "' is not an endpoint");
}

std::string ids_of(const std::vector<Channel>& channel)
{
    std::string ids;
    for (const Channel& value : channel)
        ids += (ids.empty() ? "" : ",") + value.id;
    return ids;
}

// Returns whether a list such as "a,b" contains an id.
bool names(const std::string& list, const std::string& id)
{
    return ("," + list + ",").find("," + id + ",") != std::string::npos;
}

} // namespace

Options with_option(const Options& options, const std::string& key, const std::string& value)
{
    Options changed;
    for (const auto& [name, text] : options.values())
        if (name != key)
            changed.set(name, text);
    changed.set(key, value);
    return changed;
}

Port::Port(Way way, Uri endpoint) : way_(way), endpoint_(std::move(endpoint))
{
    const Scheme& scheme = scheme_of(endpoint_);
    if (scheme.missing)
        fail_usage("'" + endpoint_.text() + "': " + scheme.missing->why, scheme.missing->fix);
    if (way == Way::receive ? !scheme.source : !scheme.sink)
        fail_usage("'" + endpoint_.text() + "' is not a " +
                   (way == Way::receive ? "source" : "sink"));
    if (endpoint_.scheme == "iio")
        open_device();
    else
        open_other();
}

void Port::open_device()
{
    context_ = endpoint_.options.get("uri", "local:");
    device_.emplace(endpoint_.rest, context_);
    const DeviceInfo info = device_->info();
    const int wanted = std::stoi("0" + endpoint_.options.get("buffer", "0"));
    const BufferInfo* found = nullptr;
    for (const BufferInfo& buffer : info.buffers)
        if (buffer.output == (way_ == Way::transmit) &&
            (found == nullptr || buffer.index == wanted))
            found = &buffer;
    if (found == nullptr)
        fail_usage("'" + endpoint_.text() + "' has no " +
                   (way_ == Way::receive ? "input" : "output") + " buffer");
    buffer_ = found->index;
    if (buffer_ != 0 && !endpoint_.options.values().contains("buffer"))
        endpoint_.options.set("buffer", std::to_string(buffer_));
    attributes_ = found->tuning;
    add_channels(found->channels);
}

void Port::open_other()
{
    if (way_ == Way::transmit) { // the default; the sink takes the format that the program writes
        const Format format = Format::parse("ci16_le");
        sample_bytes_ = format.sample_bytes;
        add_channels(format.channels);
        return;
    }
    const Reader reader({.source = endpoint_});
    learn(reader.tuning(), reader.format().sample_rate);
    sample_bytes_ = reader.format().sample_bytes;
    add_channels(reader.format().channels);
}

void Port::add_channels(const std::vector<Channel>& all)
{
    const std::string wanted = device_ ? endpoint_.options.get("channels", "") : "";
    for (const Channel& value : all) {
        if (value.component == Component::counter || (!wanted.empty() && !names(wanted, value.id)))
            continue;
        if (value.component == Component::quadrature && !channels_.empty())
            channels_.back().push_back(value);
        else
            channels_.push_back({value});
    }
}

Uri Port::endpoint() const
{
    const std::lock_guard lock(mutex_);
    return endpoint_;
}

const std::vector<Channel>& Port::channel(std::size_t number) const
{
    if (number >= channels_.size())
        fail_usage("channel " + std::to_string(number) + ": the device has " +
                   std::to_string(channels_.size()));
    return channels_[number];
}

std::size_t Port::sample_bytes(const std::vector<std::size_t>& channels) const
{
    if (!device_)
        return sample_bytes_;
    Format format;
    for (const std::size_t number : channels)
        format.channels.insert(format.channels.end(), channel(number).begin(),
                               channel(number).end());
    format.lay_out();
    return format.sample_bytes;
}

Uri Port::endpoint(const std::vector<std::size_t>& channels) const
{
    Uri chosen = endpoint();
    std::string ids;
    for (const std::size_t number : channels)
        ids += (ids.empty() ? "" : ",") + ids_of(channel(number));
    if (device_)
        chosen.options = with_option(chosen.options, "channels", ids);
    return chosen;
}

std::vector<Option> Port::options() const
{
    const bool receives = way_ == Way::receive;
    std::vector<Option> options =
        options_of(scheme_of(endpoint_), receives ? OptionSide::source : OptionSide::sink);
    std::erase_if(options, [&](const Option& option) {
        static constexpr std::array kLayout{"channels", "format", "uri", "phy", "buffer", "iq"};
        static constexpr std::array kOthers{"convert", "on-full", "hold"};
        static constexpr std::array kTuned{"frequency", "gain", "agc",
                                           "bandwidth", "rate", "antenna"};
        const auto is_one_of = [&](const auto& keys) {
            return std::find(keys.begin(), keys.end(), option.key) != keys.end();
        };
        return option.key.ends_with('.') || is_one_of(kLayout) || is_one_of(kOthers) ||
               (device_ && is_one_of(kTuned));
    });
    return options;
}

std::string Port::option(const std::string& key) const
{
    const std::lock_guard lock(mutex_);
    for (const Option& option : options())
        if (option.is(key))
            return endpoint_.options.get(option);
    return endpoint_.options.get(key, "");
}

void Port::set_option(const std::string& key, const std::string& value)
{
    const std::lock_guard lock(mutex_);
    endpoint_.options = with_option(endpoint_.options, key, value);
    changes_ += 1;
}

unsigned Port::options_changed() const
{
    const std::lock_guard lock(mutex_);
    return changes_;
}

bool Port::tunes(const std::string& what) const
{
    if (device_)
        return attributes_.contains(what);
    if (way_ == Way::transmit) // the program sets the rate at which the sink plays
        return what == "rate";
    if (endpoint_.scheme == "sim") // its option frequency= sets the frequency of a tone
        return what == "rate";
    const std::vector<Option> all = options();
    return std::any_of(all.begin(), all.end(),
                       [&](const Option& option) { return option.is(what); });
}

Tuning Port::tuning(std::size_t number) const
{
    const std::string ids = ids_of(channel(number));
    const std::lock_guard lock(mutex_);
    if (device_) // a request that sets nothing returns all settings
        return device_->tune({.channels = ids, .buffer = buffer_});
    return learned_;
}

void Port::tune(std::size_t number, TuningRequest wanted)
{
    wanted.channels = ids_of(channel(number));
    wanted.buffer = buffer_;
    if (device_) {
        const std::lock_guard lock(mutex_);
        (void)device_->tune(wanted);
        return;
    }
    for (const auto& [key, value] :
         {std::pair("frequency", wanted.frequency), std::pair("gain", wanted.gain),
          std::pair("bandwidth", wanted.bandwidth), std::pair("rate", wanted.rate)})
        if (value && tunes(key) && way_ == Way::receive)
            set_option(key, text_of(*value));
    for (const auto& [key, value] :
         {std::pair("agc", wanted.agc), std::pair("antenna", wanted.antenna)})
        if (!value.empty() && tunes(key) && way_ == Way::receive)
            set_option(key, value);
    const std::lock_guard lock(mutex_); // assumed until a stream reports the real settings
    for (const auto& [known, value] :
         {std::pair(&learned_.frequency, wanted.frequency), std::pair(&learned_.gain, wanted.gain),
          std::pair(&learned_.bandwidth, wanted.bandwidth), std::pair(&learned_.rate, wanted.rate)})
        if (value)
            *known = value;
}

void Port::learn(const Tuning& tuning, double rate)
{
    const std::lock_guard lock(mutex_);
    learned_ = tuning;
    if (rate > 0)
        learned_.rate = rate;
}

std::string Port::attribute(const std::string& what, std::size_t number) const
{
    const auto found = attributes_.find(what);
    if (found == attributes_.end() || found->second.empty() || number >= channels_.size())
        return "";
    // There is one attribute for each channel, or one for several channels that share it.
    return found->second[number * found->second.size() / channels_.size()];
}

std::string Port::available(const std::string& what, std::size_t number) const
{
    const std::string path = attribute(what, number);
    if (path.empty() || !device_)
        return "";
    try {
        return get_attribute(path + "_available");
    } catch (const Error&) {
        return "";
    }
}

std::string Port::get_attribute(const std::string& path) const
{
    const std::lock_guard lock(mutex_);
    return device_->get(path);
}

void Port::set_attribute(const std::string& path, const std::string& value)
{
    const std::lock_guard lock(mutex_);
    (void)device_->set(path, value);
}

std::string Port::name() const
{
    for (const char* what : {"frequency", "gain", "rate", "bandwidth"})
        if (const std::string path = attribute(what, 0); !path.empty())
            return path.substr(0, path.find('/'));
    return endpoint_.rest.empty() ? endpoint_.scheme : endpoint_.rest;
}

} // namespace iio_stream::soapy
