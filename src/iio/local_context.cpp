// SPDX-License-Identifier: MIT
#include "iio/local_context.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <cerrno>

namespace iio_stream::iio {

namespace {

constexpr const char* kDevicesDir = "/sys/bus/iio/devices";

class LocalContext final : public Context {
public:
    LocalContext()
    {
        if (!sys::path_exists(kDevicesDir))
            throw Error(Fault::device, ENOENT, "look for IIO devices in", kDevicesDir, {},
                        "there is no IIO device here: load its driver, or give uri=ip:ADDRESS for "
                        "a board on the network; "
                        "sim: needs none");
        for (const std::string& id : sys::list_directory(kDevicesDir))
            devices_.push_back(read_device(std::string(kDevicesDir) + "/" + id));
    }

    bool is_local() const noexcept override { return true; }
    int read(const DeviceNode& device, const DeviceNode::Channel*,
             const DeviceNode::Attribute& attribute, std::string& value) const override
    try {
        const auto text = sys::read_text(path(device, attribute));
        if (!text)
            return ENOENT;
        value = text->c_str(); // up to a zero, if a driver writes one
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
};

} // namespace

ContextPtr open_local()
{
    return std::make_shared<LocalContext>();
}

} // namespace iio_stream::iio
