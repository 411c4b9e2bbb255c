// SPDX-License-Identifier: MIT
#include "iio/buffer/buffer_dir.hpp"

#include "core/base/text.hpp"
#include "iio_stream/error.hpp"
#include "iio_stream/units.hpp"
#include "sys/event.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace iio_stream::iio {

namespace {

constexpr const char* kDevices = "/sys/bus/iio/devices/";
constexpr const char* kAlignment = "/length_align_bytes"; // only DMA buffers have it

struct Element {
    Channel channel;
    std::string file;   ///< prefix of its files
    std::string remark; ///< why it cannot be parsed; empty if it can
};

// A driver's type file is untrusted text. Errors in it are reported and do not affect other
// channels.
void read_type(Element& element, const std::string& text)
{
    try {
        element.channel.type = ScanType::parse(text);
    } catch (const Error& error) {
        element.remark = "channel " + element.channel.id + ": " + error.what();
    }
}

// "in_voltage0_i_en" with its "_type" and "_index" files makes one scan element.
std::vector<Element> read_elements(const std::string& dir)
{
    std::vector<Element> elements;
    for (const std::string& file : sys::list_directory(dir)) {
        if (!file.ends_with("_en"))
            continue;
        Element element;
        element.file = file.substr(0, file.size() - 3);
        const std::string path = dir + "/" + element.file;
        const auto type = sys::read_sysfs(path + "_type");
        const auto index = sys::read_sysfs(path + "_index");
        if (!type || !index)
            continue;
        element.channel.id = element.file.substr(element.file.find('_') + 1);
        read_type(element, *type);
        element.channel.scan_index =
            static_cast<unsigned>(std::strtoul(index->c_str(), nullptr, 10));
        elements.push_back(std::move(element));
    }
    std::sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
        return a.channel.scan_index < b.channel.scan_index;
    });
    return elements;
}

} // namespace

BufferDir::BufferDir(const std::string& device_id, const std::string& device_name, int index)
    : device_dir_(kDevices + device_id), name_(device_name)
{
    buffer_dir_ = device_dir_ + "/buffer" + std::to_string(index);
    elements_dir_ = buffer_dir_;
    if (!sys::path_exists(buffer_dir_) && index == 0) {
        buffer_dir_ = device_dir_ + "/buffer";
        elements_dir_ = device_dir_ + "/scan_elements";
    }
    if (!sys::path_exists(buffer_dir_))
        throw Error(Fault::device, ENODEV, "find buffer " + std::to_string(index) + " of", name_,
                    "the device has no such buffer",
                    index == 0 ? "only devices with a buffer can stream; iio-stream info lists them"
                               : "buffer=0 is the first");
    output_ = sys::read_sysfs(buffer_dir_ + "/direction").value_or("in") == "out";
    std::vector<std::string> unknown;
    for (Element& element : read_elements(elements_dir_)) {
        if (!element.remark.empty()) {
            remarks_.push_back(std::move(element.remark));
            unknown.push_back(std::move(element.file));
            continue;
        }
        elements_.push_back(std::move(element.channel));
        files_.push_back(std::move(element.file));
    }
    files_.insert(files_.end(), unknown.begin(), unknown.end());
    driver_name_ = sys::read_sysfs(device_dir_ + "/name").value_or("");
    if (const auto text = sys::read_sysfs(buffer_dir_ + kAlignment)) {
        is_dma_ = true;
        alignment_ = std::max<std::size_t>(std::strtoul(text->c_str(), nullptr, 10), 1);
    }
    pair_up(driver_name_, elements_, Iq::automatic);
}

Format BufferDir::choose(const std::string& names, Iq iq) const
{
    Format format;
    std::vector<std::string> known;
    for (const Channel& channel : elements_)
        known.push_back(channel.id);
    if (names.empty() && !remarks_.empty()) {
        std::string rest;
        for (const std::string& id : known)
            rest += (rest.empty() ? "" : ",") + id;
        throw Error(Fault::device, EPROTO, "stream", name_, remarks_[0],
                    rest.empty() ? "" : "channels=" + rest + " selects those that can be parsed");
    }
    if (names.empty()) // all except the CPU's timestamp, which no DMA writes
        std::copy_if(elements_.begin(), elements_.end(), std::back_inserter(format.channels),
                     [](const Channel& channel) { return channel.id != "timestamp"; });
    else
        for (const std::string& name : detail::split(names)) {
            const auto at = std::find(known.begin(), known.end(), name);
            if (at == known.end())
                fail_usage(name_ + " has no channel '" + name + "'",
                           remarks_.empty() ? suggest(name, known) : remarks_[0]);
            const Channel& channel = elements_[static_cast<std::size_t>(at - known.begin())];
            for (const Channel& chosen : format.channels)
                if (chosen.id == channel.id)
                    fail_usage("channels=" + names + ": '" + name + "' is named twice");
            format.channels.push_back(channel);
        }
    if (format.channels.empty())
        throw Error(Fault::device, ENODEV, "stream", name_, "its buffer has no channels");
    // The device writes the channels in the order of their scan indices, not in the order of
    // `names`.
    std::sort(format.channels.begin(), format.channels.end(),
              [](const Channel& a, const Channel& b) { return a.scan_index < b.scan_index; });
    pair_up(driver_name_, format.channels, iq);
    format.lay_out();
    format.sample_rate = sample_rate_of(device_dir_, output_).value;
    return format;
}

bool BufferDir::is_enabled() const
{
    return sys::read_sysfs(buffer_dir_ + "/enable").value_or("0") == "1";
}

std::size_t BufferDir::data_available() const
{
    const auto text = sys::read_sysfs(buffer_dir_ + "/data_available");
    return text ? std::strtoul(text->c_str(), nullptr, 10) : 0;
}

void BufferDir::enable_channels(const Format& format)
{
    chosen_.clear();
    for (const Channel& channel : format.channels)
        detail::add_item(chosen_, channel.id);
    whole_ = format.channels.size() == elements_.size();
    // Switches channels off first: a driver can refuse old and new channels together
    // (available_scan_masks).
    for (const char* state : {"0", "1"})
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const bool wanted =
                i < elements_.size() &&
                std::any_of(format.channels.begin(), format.channels.end(),
                            [&](const Channel& c) { return c.id == elements_[i].id; });
            const std::string path = elements_dir_ + "/" + files_[i] + "_en";
            if ((wanted ? "1" : "0") == std::string_view(state) &&
                sys::read_sysfs(path).value_or("") != state)
                enable_channel(path, state);
        }
}

void BufferDir::enable_channel(const std::string& path, const char* state) const
try {
    sys::write_text(path, state);
} catch (const Error& error) {
    if (error.code().value() == EACCES)
        throw Error(Fault::device, EACCES, "open", path, {},
                    "run as root, or let udev give it to your group: iio-stream doctor shows how");
    if (error.code().value() != EINVAL)
        throw;
    refuse_channels("enable channels of");
}

void BufferDir::refuse_channels(const char* operation) const
{
    throw Error(Fault::device, EINVAL, operation, name_,
                "the driver does not sample these channels together: " + chosen_,
                "choose fewer or other channels with channels=");
}

bool BufferDir::set_length(std::size_t scans) const
{
    try {
        sys::write_text(buffer_dir_ + "/length", std::to_string(scans));
        return true;
    } catch (const Error&) {
        return false;
    }
}

void BufferDir::set_watermark(std::size_t scans) const
{
    sys::write_text(buffer_dir_ + "/watermark", std::to_string(scans));
}

void BufferDir::enable()
{
    if (disabled_ns_ != 0)
        (void)sys::wait_for(-1, 0, disabled_ns_ + kQuietNs);
    try {
        sys::write_text(buffer_dir_ + "/enable", "1");
    } catch (const Error& error) {
        // A channel can be switched on if any mask of the driver contains it together with the
        // others. The kernel requires an exact mask only here (iio_verify_update(), strict for DMA
        // buffers).
        if (error.code().value() != EINVAL || whole_)
            throw;
        refuse_channels("enable");
    }
}

void BufferDir::disable() noexcept
{
    disabled_ns_ = sys::monotonic_ns();
    try {
        sys::write_text(buffer_dir_ + "/enable", "0");
    } catch (const Error&) {
        // The device is gone, or another program disabled the buffer. Either way, it is off.
    }
}

void BufferDir::disable_leftover()
{
    if (is_enabled())
        disable();
}

void BufferDir::take_back() noexcept
{
    try {
        if (exists() && !is_enabled())
            enable_somehow();
    } catch (const Error&) {
        // Nothing more can be done.
    }
    disable();
}

void BufferDir::leave_fileio() noexcept
{
    (void)set_length(2 * alignment()); // two blocks; a scan has at least one byte
    take_back();
}

// Enables the buffer with the chosen channels or, if the driver refuses those, with all channels.
void BufferDir::enable_somehow()
try {
    enable();
} catch (const Error&) {
    if (whole_)
        throw;
    for (const std::string& file : files_)
        sys::write_text(elements_dir_ + "/" + file + "_en", "1");
    enable();
}

bool BufferDir::exists() const
{
    return sys::path_exists(buffer_dir_);
}

SampleRate sample_rate_of(const std::string& device_dir, bool output)
{
    for (const std::string& file : sys::list_directory(device_dir)) {
        if (!file.ends_with("sampling_frequency") || file.starts_with(output ? "in_" : "out_") ||
            file.starts_with("out_altvoltage"))
            continue;
        try {
            const std::string text = sys::read_sysfs(device_dir + "/" + file).value_or("");
            if (const double rate = std::strtod(text.c_str(), nullptr); rate > 0)
                return {rate, device_dir + "/" + file};
        } catch (const Error&) {
            // Some drivers report the rate only while they stream. Another file may have it.
        }
    }
    return {};
}

} // namespace iio_stream::iio
