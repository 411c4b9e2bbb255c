// SPDX-License-Identifier: MIT
#include "iio/context/local_context.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace iio_stream::iio {

namespace {

using Node = DeviceNode::Channel;

// The kernel's modifiers (iio_modifier_names in industrialio-core.c, up to Linux 7.3). A modifier
// can follow a channel's type and number, and is part of its id.
constexpr std::string_view kModifiers[] = {
    "x",
    "y",
    "z",
    "x&y",
    "x&z",
    "y&z",
    "x&y&z",
    "x|y",
    "x|z",
    "y|z",
    "x|y|z",
    "both",
    "ir",
    "sqrt(x^2+y^2)",
    "x^2+y^2+z^2",
    "clear",
    "red",
    "green",
    "blue",
    "quaternion",
    "ambient",
    "object",
    "from_north_magnetic",
    "from_north_true",
    "from_north_magnetic_tilt_comp",
    "from_north_true_tilt_comp",
    "running",
    "jogging",
    "walking",
    "still",
    "sqrt(x^2+y^2+z^2)",
    "i",
    "q",
    "co2",
    "voc",
    "uv",
    "duv",
    "pm1",
    "pm2p5",
    "pm4",
    "pm10",
    "ethanol",
    "h2",
    "o2",
    "linear_x",
    "linear_y",
    "linear_z",
    "pitch",
    "yaw",
    "roll",
    "uva",
    "uvb",
    "rms",
    "active",
    "reactive",
    "apparent",
    "quaternionaxis",
};

// The length of the modifier that `text` begins with; 0 = it begins with none. A modifier can begin
// with another one, so the longest counts.
std::size_t modifier_length(std::string_view text)
{
    std::size_t length = 0;
    for (const std::string_view modifier : kModifiers)
        if (text.starts_with(modifier) &&
            (text.size() == modifier.size() || text[modifier.size()] == '_'))
            length = std::max(length, modifier.size());
    return length;
}

/// The parts of a file's name, such as "in_voltage0_i_scale".
struct FileName {
    std::string_view file;
    bool output = false;
    std::size_t begin = 0; ///< start of the channel's id, "voltage0_i"; 0 = no channel
    std::size_t end = 0;   ///< end of that id
    bool counted = false;  ///< a number or a modifier identifies the channel

    explicit FileName(std::string_view name) : file(name), output(name.starts_with("out_"))
    {
        const std::size_t after = output ? 4 : 3;
        if (!output && !name.starts_with("in_"))
            return;
        end = name.find('_', after);
        if (end == std::string_view::npos)
            return;
        begin = after;
        counted = is_digit(name[end - 1]) || name.starts_with("in_timestamp_");
        if (const std::size_t length = modifier_length(name.substr(end + 1))) {
            end += 1 + length;
            counted = true;
        }
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    std::string_view id() const { return file.substr(begin, end - begin); }
    std::string_view rest() const { return file.substr(std::min(end + 1, file.size())); }
};

// The rest of the file's name without the channel's name, if the channel has one: "frequency" for
// "RX_LO_frequency".
std::string attribute_name(const FileName& name, const std::string& channel_name)
{
    std::string_view rest = name.rest();
    if (!channel_name.empty() && rest.starts_with(channel_name + "_"))
        rest.remove_prefix(channel_name.size() + 1);
    return std::string(rest);
}

/// A device whose files are being read.
class Draft {
public:
    /// Lists the files in `dir`, the folder of the device with these names.
    Draft(DeviceNode names, const std::string& dir);
    DeviceNode finish();

private:
    struct Part {
        Node node;
        std::vector<std::string> scan_files; ///< "en", "index", "type"
    };
    /// How a file without a channel's number belongs to a channel.
    enum class Bond { none, shared, named };

    Part& part_of(const FileName& name);
    void add_attribute(const FileName& name);
    static void take_name(Part& part);
    static Bond bond(const Node& channel, std::string_view file);
    bool share(const std::string& file, Bond wanted);
    void distribute();

    DeviceNode device_;
    std::vector<Part> parts_;
    std::vector<std::string> others_; ///< files that belong to no channel so far
};

Draft::Draft(DeviceNode names, const std::string& dir) : device_(std::move(names))
{
    for (const std::string& file : sys::list_files(dir)) {
        const FileName name(file);
        if (name.begin != 0 && name.counted)
            add_attribute(name);
        else if (file != "name" && file != "label" && file != "dev" && file != "uevent")
            others_.push_back(file);
    }
    const std::string elements = dir + "/scan_elements/";
    for (const std::string& file : sys::list_files(elements)) {
        const FileName name(file);
        if (name.begin == 0 || !name.counted)
            continue;
        Part& part = part_of(name);
        part.node.scan_element = true;
        part.scan_files.emplace_back(name.rest());
        if (file.ends_with("_index"))
            part.node.scan_index =
                std::strtol(sys::read_sysfs(elements + file).value_or("").c_str(), nullptr, 0);
    }
}

Draft::Part& Draft::part_of(const FileName& name)
{
    const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
        return part.node.id == name.id() && part.node.output == name.output;
    });
    if (at != parts_.end())
        return *at;
    Part& part = parts_.emplace_back();
    part.node.id = name.id();
    part.node.output = name.output;
    return part;
}

void Draft::add_attribute(const FileName& name)
{
    Node& node = part_of(name).node;
    node.attributes.push_back({attribute_name(name, node.name), std::string(name.file)});
}

// The common prefix of a channel's files is its name: the channel of an oscillator has
// "RX_LO_frequency" and "RX_LO_powerdown".
void Draft::take_name(Part& part)
{
    std::vector<std::string_view> names(part.scan_files.begin(), part.scan_files.end());
    for (const DeviceNode::Attribute& attribute : part.node.attributes)
        names.emplace_back(attribute.name);
    if (names.size() < 2)
        return;
    std::size_t prefix = 0;
    for (std::size_t at = names[0].find('_'); at != std::string_view::npos;
         at = names[0].find('_', at + 1)) {
        const std::string_view begin = names[0].substr(0, at + 1);
        if (!std::all_of(names.begin(), names.end(),
                         [&](std::string_view name) { return name.starts_with(begin); }))
            break;
        prefix = at + 1;
    }
    if (prefix == 0)
        return;
    part.node.name = std::string(names[0].substr(0, prefix - 1));
    for (DeviceNode::Attribute& attribute : part.node.attributes)
        attribute.name.erase(0, prefix);
}

// "in_voltage_scale" belongs to all input voltages, "in_voltage-voltage_scale" to differential
// ones.
Draft::Bond Draft::bond(const Node& channel, std::string_view file)
{
    const std::string_view way = channel.output ? "out_" : "in_";
    if (!file.starts_with(way))
        return Bond::none;
    file.remove_prefix(way.size());
    const std::size_t end = file.find('_');
    if (end == std::string_view::npos)
        return Bond::none;
    const std::string_view type = file.substr(0, end), id = channel.id;
    const auto counts = [](std::string_view numbered, std::string_view plain) {
        return numbered.starts_with(plain) && numbered.size() > plain.size() &&
               FileName::is_digit(numbered[plain.size()]);
    };
    if (const std::size_t dash = type.find('-'), its = id.find('-');
        dash != std::string_view::npos && dash > 0 && its != std::string_view::npos &&
        counts(id.substr(0, its), type.substr(0, dash)) &&
        counts(id.substr(its + 1), type.substr(dash + 1)))
        return Bond::shared;
    if (counts(id, type))
        return !channel.name.empty() && file.substr(end + 1).starts_with(channel.name + "_")
                   ? Bond::named
                   : Bond::shared;
    const bool modified = id.starts_with(type) && id.size() > end && id[end] == '_' &&
                          modifier_length(id.substr(end + 1)) != 0;
    return modified ? Bond::shared : Bond::none;
}

bool Draft::share(const std::string& file, Bond wanted)
{
    bool found = false;
    for (Part& part : parts_)
        if (bond(part.node, file) == wanted) {
            part.node.attributes.push_back({attribute_name(FileName(file), part.node.name), file});
            found = true;
        }
    return found;
}

void Draft::distribute()
{
    std::erase_if(others_, [&](const std::string& file) {
        return share(file, Bond::named) || share(file, Bond::shared);
    });
    // A file that is left belongs to the only channel of its type, such as "in_temp_raw".
    std::erase_if(others_, [&](const std::string& file) {
        const FileName name(file);
        if (name.begin == 0)
            return false;
        add_attribute(name);
        return true;
    });
}

DeviceNode Draft::finish()
{
    for (Part& part : parts_)
        take_name(part);
    distribute();
    for (const std::string& file : others_)
        device_.attributes.push_back({file, file});
    for (Part& part : parts_) {
        std::sort(part.node.attributes.begin(), part.node.attributes.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
        device_.channels.push_back(std::move(part.node));
    }
    const auto place = [](const Node& node) { // scan elements first, in their order
        return std::tuple(!node.scan_element, node.scan_element ? node.scan_index : 0,
                          node.scan_element ? std::string_view() : node.id, node.output);
    };
    std::stable_sort(device_.channels.begin(), device_.channels.end(),
                     [&](const Node& a, const Node& b) { return place(a) < place(b); });
    return std::move(device_);
}

// Returns a device without its attributes and channels.
DeviceNode read_names(const std::string& dir)
{
    DeviceNode device;
    device.id = dir.substr(dir.rfind('/') + 1);
    device.name = sys::read_sysfs(dir + "/name").value_or("");
    device.label = sys::read_sysfs(dir + "/label").value_or("");
    return device;
}

constexpr const char* kDevicesDir = "/sys/bus/iio/devices";

class LocalContext final : public Context {
public:
    LocalContext()
    {
        if (!sys::path_exists(kDevicesDir))
            throw Error(Fault::device, ENOENT, "look for IIO devices in", kDevicesDir, {},
                        "there is no IIO device here: load its driver, or give uri=ip:ADDRESS for "
                        "a board on the network; "
                        "sim: needs no device");
        for (const std::string& id : sys::list_directory(kDevicesDir))
            devices_.push_back(read_names(std::string(kDevicesDir) + "/" + id));
        complete_.resize(devices_.size());
    }

    const DeviceNode& complete(const DeviceNode& device) const override
    {
        const std::lock_guard lock(mutex_);
        auto& found = complete_[static_cast<std::size_t>(&device - devices_.data())];
        if (!found)
            found = Draft(device, std::string(kDevicesDir) + "/" + device.id).finish();
        return *found;
    }

    bool is_local() const noexcept override { return true; }
    int read(const DeviceNode& device, const DeviceNode::Channel*,
             const DeviceNode::Attribute& attribute, std::string& value) const override
    try {
        const auto text = sys::read_sysfs(path(device, attribute));
        if (!text)
            return ENOENT;
        value = text->c_str(); // ends at a zero byte, if a driver writes one
        return 0;
    } catch (const Error& error) {
        return error.code().value();
    }
    int write(const DeviceNode& device, const DeviceNode::Channel*,
              const DeviceNode::Attribute& attribute, const std::string& value) const override
    try {
        sys::write_text(path(device, attribute), value);
        return 0;
    } catch (const Error& error) {
        return error.code().value();
    }

private:
    static std::string path(const DeviceNode& device, const DeviceNode::Attribute& attribute)
    {
        return std::string(kDevicesDir) + "/" + device.id + "/" + attribute.file;
    }

    mutable std::mutex mutex_; ///< guards complete_, not the devices in it, which do not change
    mutable std::vector<std::optional<DeviceNode>> complete_; ///< for each of devices_
};

} // namespace

ContextPtr open_local()
{
    return std::make_shared<LocalContext>();
}

DeviceNode read_device(const std::string& dir)
{
    return Draft(read_names(dir), dir).finish();
}

} // namespace iio_stream::iio
