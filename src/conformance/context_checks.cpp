// SPDX-License-Identifier: MIT
// 2xx: the contexts, names, formats and settings of the devices.
#include "conformance/run.hpp"
#include "core/base/text.hpp"
#include "iio/context/local_context.hpp"
#include "iio/tuning/front_end.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <set>

namespace iio_stream::conformance {

namespace {

std::string name_of_device(const DeviceInfo& info)
{
    return info.name.empty() ? info.id : info.name;
}

// Describes the first setting (rate, frequency or bandwidth) whose value is not a number; empty if
// there is none.
std::string unreadable_setting(const Subject& subject)
{
    const iio::FrontEnd front(subject.device, "local:", "auto",
                              subject.buffer.output ? iio::Direction::transmit
                                                    : iio::Direction::receive,
                              subject.buffer.channels);
    std::vector<iio::TuningTarget> targets = front.own_rates();
    for (const char* option : {"frequency", "bandwidth"})
        for (iio::TuningTarget& target : front.places(option))
            targets.push_back(std::move(target));
    for (const iio::TuningTarget& target : targets) {
        const std::string value = target.device.read(target.channel, target.attribute);
        if (!iio::value_of(target))
            return target.text() + " reads '" + value + "', which is not a number";
    }
    return "";
}

std::string wrong_channel(const Channel& channel)
{
    const ScanType& type = channel.type;
    if (type.bits == 0 || type.bits + type.shift > type.storage_bits)
        return channel.id + " " + type.text() + ": " + std::to_string(type.bits) +
               " bits shifted by " + std::to_string(type.shift) + " do not fit in " +
               std::to_string(type.storage_bits) + " bits";
    if (type.storage_bits % 8 != 0 || (type.storage_bits & (type.storage_bits - 1)) != 0)
        return channel.id + " " + type.text() + ": the storage is not 8, 16, 32 or 64 bits";
    return "";
}

} // namespace

void check_context(Run& run, Subject*)
{
    if (run.devices().empty()) {
        run.skip("this machine has no IIO devices");
        return;
    }
    std::int64_t attributes = 0, unreadable = 0;
    std::string wrong, unread;
    for (const DeviceInfo& info : run.devices()) {
        for (const std::string& remark : info.remarks)
            detail::add_clause(wrong, name_of_device(info) + ": " + remark);
        for (const AttributeInfo& attribute : info.attributes) {
            ++attributes;
            if (attribute.error.empty())
                continue;
            if (++unreadable <= 3)
                detail::add_item(unread,
                                 (attribute.channel.empty() ? "" : attribute.channel + "/") +
                                     attribute.name);
        }
    }
    if (!wrong.empty()) {
        run.fail(wrong);
        return;
    }
    run.pass(std::to_string(run.devices().size()) + " devices, " + std::to_string(attributes) +
                 " attributes, " + std::to_string(unreadable) + " of which cannot be read now" +
                 (unread.empty() ? "" : ": " + unread) + (unreadable > 3 ? ", …" : ""),
             {{"devices", static_cast<std::int64_t>(run.devices().size())},
              {"attributes", attributes},
              {"unreadable_attributes", unreadable}});
}

void check_names(Run& run, Subject*)
{
    if (run.devices().empty()) {
        run.skip("this machine has no IIO devices");
        return;
    }
    const iio::ContextPtr context = iio::open_local();
    const auto all = iio::devices(context);
    std::string ambiguous;
    for (const DeviceInfo& info : run.devices()) {
        for (const std::string& name : {info.id, info.name, info.label}) {
            const auto matches =
                std::count_if(all.begin(), all.end(), [&](const iio::Device& device) {
                    return device.id() == name || device.name() == name || device.label() == name;
                });
            if (name.empty())
                continue;
            if (matches > 1)
                detail::add_item(ambiguous, name);
            else if (const iio::Device found = iio::find_device(context, "local:", name);
                     found.id() != info.id) {
                run.fail("'" + name + "' selects " + found.id() + " instead of " + info.id);
                return;
            }
        }
        std::set<std::string> channels;
        for (const BufferInfo& buffer : info.buffers)
            for (const Channel& channel : buffer.channels)
                if (!channels.insert(std::to_string(buffer.index) + "/" + channel.id).second) {
                    run.fail(name_of_device(info) + " has two channels named " + channel.id);
                    return;
                }
    }
    run.pass(ambiguous.empty() ? "every name selects its device"
                               : "several devices share a name, so use the id: " + ambiguous);
}

void check_formats(Run& run, Subject* subject)
{
    std::string wrong, formats;
    for (const std::string& remark : subject->buffer.remarks)
        detail::add_clause(wrong, "not understood: " + remark);
    std::set<unsigned> indexes;
    for (const Channel& channel : subject->buffer.channels) {
        if (const std::string why = wrong_channel(channel); !why.empty())
            detail::add_clause(wrong, why);
        if (!indexes.insert(channel.scan_index).second)
            detail::add_clause(wrong, channel.id + " shares the scan index " +
                                          std::to_string(channel.scan_index) +
                                          " with another channel");
        detail::add_item(formats, channel.id + " " + channel.type.text());
    }
    if (wrong.empty() && formats.empty())
        wrong = "the buffer has no scan elements";
    if (wrong.empty())
        run.pass(formats, {{"sample_bytes", static_cast<std::int64_t>(subject->sample_bytes())}});
    else
        run.fail(wrong);
}

void check_attributes(Run& run, Subject* subject)
{
    if (const std::string why = unreadable_setting(*subject); !why.empty()) {
        run.fail(why);
        return;
    }
    std::string places;
    for (const auto& [option, attributes] : subject->buffer.tuning)
        if (!attributes.empty())
            detail::add_item(places, option + "= is " + attributes.front());
    run.pass(places.empty() ? "the device has no settings that iio-stream recognizes" : places,
             {{"sample_rate", subject->rate()}});
}

void check_availability(Run& run, Subject* subject)
{
    // Another program might have started or stopped using the device since the run began.
    subject->blocked = use_of(subject->device, subject->buffer.index);
    if (subject->blocked.empty() && subject->buffer.channels.empty())
        subject->blocked = "none of its channels is understood";
    if (subject->blocked.empty())
        run.pass("free");
    else if (subject->blocked.starts_with("in use"))
        run.skip(subject->blocked);
    else {
        run.blame(Fault::device);
        run.fail(subject->blocked);
    }
}

void check_paths(Run& run, Subject* subject)
{
    if (!subject->blocked.empty()) {
        run.skip(subject->blocked);
        return;
    }
    std::string usable, unusable;
    for (const Way& way : subject->ways)
        detail::add_item(usable, way.text());
    for (const auto& [way, why] : subject->unusable)
        detail::add_clause(unusable, "not " + way + ": " + why);
    if (usable.empty())
        run.fail("samples cannot be streamed by any path: " + unusable);
    else
        run.pass(usable + (unusable.empty() ? "" : "; " + unusable));
}

} // namespace iio_stream::conformance
