// SPDX-License-Identifier: MIT
// The XML from which a libiio 0.x client creates its context. Elements and attributes follow
// libiio's own DTD.
#include "serve/xml.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <sys/utsname.h>

namespace iio_stream::serve {

namespace {

// libiio validates the XML with libxml2, which prints a message to the client's stderr if there is
// no DTD.
constexpr const char* kHead =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
    "<!DOCTYPE context ["
    "<!ELEMENT context (context-attribute*, device*)>"
    "<!ATTLIST context name CDATA #REQUIRED description CDATA #IMPLIED"
    " version-major CDATA #IMPLIED version-minor CDATA #IMPLIED version-git CDATA #IMPLIED>"
    "<!ELEMENT context-attribute EMPTY>"
    "<!ATTLIST context-attribute name CDATA #REQUIRED value CDATA #REQUIRED>"
    "<!ELEMENT device (channel*, attribute*, buffer-attribute*, debug-attribute*)>"
    "<!ATTLIST device id CDATA #REQUIRED name CDATA #IMPLIED label CDATA #IMPLIED>"
    "<!ELEMENT channel (scan-element?, attribute*)>"
    "<!ATTLIST channel id CDATA #REQUIRED name CDATA #IMPLIED type (input|output) #REQUIRED>"
    "<!ELEMENT scan-element EMPTY>"
    "<!ATTLIST scan-element index CDATA #REQUIRED format CDATA #REQUIRED scale CDATA #IMPLIED>"
    "<!ELEMENT attribute EMPTY><!ATTLIST attribute name CDATA #REQUIRED filename CDATA #IMPLIED>"
    "<!ELEMENT buffer-attribute EMPTY><!ATTLIST buffer-attribute name CDATA #REQUIRED>"
    "<!ELEMENT debug-attribute EMPTY><!ATTLIST debug-attribute name CDATA #REQUIRED>"
    "]>";

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text)
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default: // XML 1.0 forbids almost all other control characters
            out += static_cast<unsigned char>(c) >= ' ' || c == '\t' || c == '\n' ? c : '?';
        }
    return out;
}

std::string pair(const char* key, std::string_view value)
{
    return std::string(" ") + key + "=\"" + escaped(value) + "\"";
}

std::string element(const char* tag, const std::string& pairs)
{
    return std::string("<") + tag + pairs + " />";
}

// "scale" in a scan element is the value of the channel's attribute when the XML is made.
std::string scale_of(const std::string& dir, const iio::DeviceNode::Channel& channel)
{
    for (const iio::DeviceNode::Attribute& attribute : channel.attributes) {
        if (attribute.name != "scale")
            continue;
        try {
            const std::string text = sys::read_text(dir + attribute.file).value_or("");
            char* end = nullptr;
            const float value = std::strtof(text.c_str(), &end);
            if (end == text.c_str())
                return "";
            char number[64];
            std::snprintf(number, sizeof number, "%f", static_cast<double>(value));
            return pair("scale", number);
        } catch (const Error&) {
            return ""; // the device cannot be read now
        }
    }
    return "";
}

std::string scan_element(const std::string& dir, const iio::DeviceNode::Channel& channel)
{
    const std::string file = dir + "scan_elements/" + channel.full_id() +
                             (channel.name.empty() ? "" : "_" + channel.name) + "_type";
    return element("scan-element", pair("index", std::to_string(channel.scan_index)) +
                                       pair("format", sys::read_text(file).value_or("")) +
                                       scale_of(dir, channel));
}

std::string channel_xml(const std::string& dir, const iio::DeviceNode::Channel& channel)
{
    std::string xml = "<channel" + pair("id", channel.id);
    if (!channel.name.empty())
        xml += pair("name", channel.name);
    xml += pair("type", channel.output ? "output" : "input") + " >";
    if (channel.scan_element)
        xml += scan_element(dir, channel);
    for (const iio::DeviceNode::Attribute& attribute : channel.attributes)
        xml +=
            element("attribute", pair("name", attribute.name) + pair("filename", attribute.file));
    return xml + "</channel>";
}

std::string device_xml(const Tree::Device& device)
{
    const iio::DeviceNode& node = *device.node;
    const std::string dir = device.dir();
    std::string xml = "<device" + pair("id", node.id);
    if (!node.name.empty())
        xml += pair("name", node.name);
    if (!node.label.empty())
        xml += pair("label", node.label);
    xml += " >";
    for (const iio::DeviceNode::Channel& channel : node.channels)
        xml += channel_xml(dir, channel);
    for (const iio::DeviceNode::Attribute& attribute : node.attributes)
        xml += element("attribute", pair("name", attribute.name));
    for (const std::string& name : device.buffer)
        xml += element("buffer-attribute", pair("name", name));
    for (const std::string& name : device.debug)
        xml += element("debug-attribute", pair("name", name));
    return xml + "</device>";
}

std::string context_attribute(const char* name, const std::string& value)
{
    return element("context-attribute", pair("name", name) + pair("value", value));
}

} // namespace

std::string xml_of(const Tree& tree)
{
    utsname system{};
    ::uname(&system);
    const std::string description = std::string(system.sysname) + " " + system.nodename + " " +
                                    system.release + " " + system.version + " " + system.machine;
    std::string xml = kHead;
    xml += "<context" + pair("name", "local") + pair("version-major", std::to_string(kMajor)) +
           pair("version-minor", std::to_string(kMinor)) + pair("version-git", kGitTag) +
           pair("description", description) + " >";
    xml += context_attribute("local,kernel", system.release) + context_attribute("uri", "local:");
    for (const Tree::Device& device : tree.devices())
        xml += device_xml(device);
    return xml + "</context>";
}

} // namespace iio_stream::serve
