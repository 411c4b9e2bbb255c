// SPDX-License-Identifier: MIT
#include "iio/context/firmware_link.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <optional>

namespace iio_stream::iio {

namespace {

// Reads a phandle, or the first of several. It has four bytes; the last can look like a newline,
// which read_text() strips.
std::optional<std::string> phandle_in(const std::string& path)
{
    try {
        auto bytes = sys::read_text(path);
        if (bytes)
            bytes->resize(4, '\n');
        return bytes;
    } catch (const Error&) {
        return std::nullopt; // the node has no such link
    }
}

bool points_at(const std::string& one, const std::string& other)
{
    const auto target = phandle_in(other + "/phandle");
    for (const char* link : {"/spibus-connected", "/io-backends"})
        if (const auto to = phandle_in(one + link); target && to && *to == *target)
            return true;
    return false;
}

} // namespace

bool nodes_linked(const std::string& one, const std::string& other)
{
    return points_at(one, other) || points_at(other, one);
}

bool linked_by_firmware(const Device& one, const Device& other)
{
    const auto node = [](const Device& device) {
        return "/sys/bus/iio/devices/" + device.id() + "/of_node";
    };
    return one.is_local() && nodes_linked(node(one), node(other));
}

} // namespace iio_stream::iio
