// SPDX-License-Identifier: MIT
#include "iio/info.hpp"

#include "core/base/text.hpp"
#include "iio/buffer/buffer_dir.hpp"
#include "iio/buffer/buffer_file.hpp"
#include "iio/context/attributes.hpp"
#include "iio/context/remote_channels.hpp"
#include "iio/open_context.hpp"
#include "iio/options.hpp"
#include "iio/tuning/tuner.hpp"
#include "iio/tuning/tuning_watch.hpp"
#include "iio_stream/units.hpp"
#include "sys/files.hpp"

#include <cerrno>

namespace iio_stream::iio {

namespace {

BufferInfo local_buffer(const Device& device, int index)
{
    const BufferDir dir(device.id(), device.name(), index);
    BufferInfo info;
    info.index = index;
    info.output = dir.is_output();
    info.channels = dir.elements();
    info.remarks = dir.remarks();
    info.alignment = dir.alignment();
    if (is_enabled(device.id(), index)) {
        // Opening and closing the device can free the blocks of the program that is streaming.
        info.dmabuf.reset();
        info.dmabuf_reason =
            in_use_text("/dev/" + device.id()) + ", not probed: its buffer is enabled";
        return info;
    }
    try {
        const BufferFile file(device.id(), index, 0);
        info.dmabuf_reason = why_no_dmabufs(file);
        info.dmabuf = info.dmabuf_reason.empty();
        info.path = *info.dmabuf                                ? "dmabuf"
                    : file.blocks() == BufferFile::Blocks::none ? "fileio"
                                                                : "mmap";
    } catch (const Error& error) {
        info.dmabuf.reset();
        info.dmabuf_reason = error.what();
    }
    return info;
}

std::vector<BufferInfo> buffers_of(const Device& device)
{
    std::vector<BufferInfo> buffers;
    if (!device.is_local()) {
        for (const bool output : {false, true}) {
            BufferInfo info;
            info.output = output;
            info.channels = device.scan_elements(output, info.remarks);
            info.dmabuf_reason = "remote: streams through libiio";
            if (!info.channels.empty() || !info.remarks.empty())
                buffers.push_back(std::move(info));
        }
        return buffers;
    }
    const std::string dir = "/sys/bus/iio/devices/" + device.id();
    for (int index = 0; sys::path_exists(dir + "/buffer" + std::to_string(index)) ||
                        (index == 0 && sys::path_exists(dir + "/buffer"));
         ++index)
        buffers.push_back(local_buffer(device, index));
    return buffers;
}

void add_tuning(BufferInfo& info, const Device& device)
{
    const FrontEnd front(device, "", "auto", info.output ? Direction::transmit : Direction::receive,
                         info.channels);
    for (const char* option : {"frequency", "gain", "agc", "bandwidth", "antenna"})
        for (const TuningTarget& place : front.places(option))
            info.tuning[option].push_back(place.text());
    for (const auto& places : {front.front_rates(), front.own_rates()})
        for (const TuningTarget& place : places)
            info.tuning["rate"].push_back(place.text());
}

bool plays(const Device& device, int buffer)
{
    if (device.is_local())
        return BufferDir(device.id(), device.name(), buffer).is_output();
    std::vector<std::string> remarks;
    return device.scan_elements(false, remarks).empty();
}

std::vector<Channel> chosen(const Device& device, int buffer, const std::string& names, bool out)
{
    if (device.is_local())
        return BufferDir(device.id(), device.name(), buffer).choose(names, Iq::automatic).channels;
    return choose_channels(device, names, Iq::automatic, out).channels;
}

} // namespace

std::string value_text(const std::string& value)
{
    return detail::printable(value, detail::Lines::many);
}

DeviceInfo info_of(const Device& device)
{
    DeviceInfo info;
    info.id = detail::printable(device.id());
    info.name = detail::printable(device.name());
    info.label = detail::printable(device.label());
    try { // one device that cannot be read does not hide the others
        info.buffers = buffers_of(device);
        for (BufferInfo& buffer : info.buffers)
            add_tuning(buffer, device);
        if (device.is_local() && !info.buffers.empty())
            info.sample_rate =
                sample_rate_of("/sys/bus/iio/devices/" + device.id(), info.buffers[0].output).value;
    } catch (const Error& error) {
        info.remarks.emplace_back(error.what());
    }
    for (const Attribute& a : device.attributes())
        info.attributes.push_back({detail::printable(a.channel), detail::printable(a.name),
                                   value_text(a.value), value_text(a.error)});
    return info;
}

Tuning tune_device(const Device& device, const std::string& uri, const std::string& phy, int buffer,
                   const std::string& channels, Options options)
{
    const bool out = plays(device, buffer);
    const TuningNotice notice;
    Tuner tuner(device, uri, phy, out ? Direction::transmit : Direction::receive,
                chosen(device, buffer, channels, out));
    tuner.take(options);
    return tuner.read();
}

} // namespace iio_stream::iio

namespace iio_stream {

namespace {

struct Found {
    iio::Device device;
    iio::AttributePath path;
};

Found find_attribute(const std::string& path, const std::string& uri)
{
    const iio::ContextPtr context = iio::open_context(uri);
    iio::AttributePath at = iio::AttributePath::parse(path, context);
    if (at.device.empty()) {
        if (at.channel.empty())
            fail_usage("'" + path + "' does not name a device", "DEVICE[/CHANNEL]/NAME");
        (void)iio::find_device(context, uri, at.channel); // throws, and suggests a device
    }
    return {iio::find_device(context, uri, at.device), at};
}

// Unknown options are reported before the radio is touched.
void require_tuning_options(const Uri& at, const Options& changes)
{
    using iio::kDeviceOptions;
    std::vector<Option> possible = join(iio::kFrontEndOptions, detail::kTuning);
    possible.insert(possible.end(), {kDeviceOptions["channels"], kDeviceOptions["phy"],
                                     kDeviceOptions["buffer"], kDeviceOptions["uri"]});
    std::vector<std::string> keys;
    for (const Option& option : possible)
        keys.emplace_back(option.key);
    for (const auto& entry : changes.values()) {
        const std::string& key = entry.first;
        if (std::ranges::none_of(possible, [&](const Option& option) { return option.is(key); }))
            fail_usage("iio:" + at.rest + " has no option '" + key + "'", suggest(key, keys));
    }
}

} // namespace

std::vector<DeviceInfo> devices(const std::string& uri)
{
    std::vector<DeviceInfo> all;
    iio::ContextPtr context;
    try {
        context = iio::open_context(uri);
    } catch (const Error& error) {
        if (uri == "local:" && (error.code().value() == ENODEV || error.code().value() == ENOENT))
            return all;
        throw;
    }
    for (const iio::Device& device : iio::devices(context))
        all.push_back(iio::info_of(device));
    return all;
}

DeviceInfo device(const std::string& name, const std::string& uri)
{
    return iio::info_of(iio::find_device(iio::open_context(uri), uri, name));
}

Tuning tune(const Uri& at, const Options& changes)
{
    if (at.scheme != "iio")
        fail_usage(at.scheme + ": cannot be tuned", "only iio:DEVICE can be tuned");
    require_tuning_options(at, changes);
    Options options = changes;
    const auto kept = [&](const Option& option) {
        return options.take(option).value_or(at.options.get(option));
    };
    using iio::kDeviceOptions;
    const std::string uri = kept(kDeviceOptions["uri"]);
    const std::string phy = kept(kDeviceOptions["phy"]);
    const auto buffer = static_cast<int>(parse_size("buffer", kept(kDeviceOptions["buffer"])));
    const Option& channels = kDeviceOptions["channels"];
    const bool named = options.has(channels) || at.options.has(channels);
    const std::string chosen = named ? kept(channels) : "";
    return iio::tune_device(iio::find_device(iio::open_context(uri), uri, at.rest), uri, phy,
                            buffer, chosen, std::move(options));
}

std::string get_attribute(const std::string& path, const std::string& uri)
{
    const Found found = find_attribute(path, uri);
    return iio::value_text(found.device.read(found.path.channel, found.path.name));
}

std::string set_attribute(const std::string& path, const std::string& value, const std::string& uri)
{
    const Found found = find_attribute(path, uri);
    const iio::TuningNotice notice;
    return iio::value_text(found.device.write(found.path.channel, found.path.name, value));
}

} // namespace iio_stream
